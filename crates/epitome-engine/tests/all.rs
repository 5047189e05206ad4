//! Every test of the engine in one binary.

#[cfg(test)]
#[path = "all/hooks.rs"]
mod hooks;
#[cfg(test)]
#[path = "all/memory_folder.rs"]
mod memory_folder;
#[cfg(test)]
#[path = "all/pipeline.rs"]
mod pipeline;
