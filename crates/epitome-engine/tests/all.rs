//! Every test of the engine in one binary.

mod all {
    mod faults;
    mod staged;
    mod support;
    mod writing;
}
