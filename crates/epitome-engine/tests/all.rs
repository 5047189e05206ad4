//! Every test of the engine in one binary.

mod all {
    mod faults;
    mod hooks;
    mod memory_folder;
    mod pipeline;
    mod staged;
    mod support;
    mod writing;
}
