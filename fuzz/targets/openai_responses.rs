//! Requests of one wire format.

#![no_main]

mod request;

use epitome_wire::Wire;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| request::run(Wire::OpenAiResponses, bytes));
