//! Every test of the engine in one binary.

#[cfg(test)]
#[path = "all/hook_commands.rs"]
mod hook_commands;
#[cfg(test)]
#[path = "all/hooks.rs"]
mod hooks;
#[cfg(test)]
#[path = "all/memory_attacks.rs"]
mod memory_attacks;
#[cfg(test)]
#[path = "all/memory_flush.rs"]
mod memory_flush;
#[cfg(test)]
#[path = "all/memory_folder.rs"]
mod memory_folder;
#[cfg(test)]
#[path = "all/pipeline.rs"]
mod pipeline;
#[cfg(test)]
#[path = "all/statistics.rs"]
mod statistics;
