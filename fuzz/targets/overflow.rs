//! Error answers of any bytes.

#![no_main]

use epitome_wire::Overflow;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for status in [400, 413, 422, 500] {
        let _ = Overflow::read(status, bytes, bytes);
    }
});
