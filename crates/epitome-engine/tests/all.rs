//! Every test of the engine in one binary.
