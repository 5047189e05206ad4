//! Every test of the engine in one binary.

#[cfg(test)]
mod all {
    mod agent_example;
    mod configuration;
    mod faults;
    mod hook_commands;
    mod hooks;
    mod hostile_data;
    mod kill;
    mod known_models;
    mod left_alone;
    mod memory_attacks;
    mod memory_flush;
    mod memory_folder;
    mod museum;
    mod nobody_waits;
    mod pipeline;
    mod rounds;
    mod seventh_design;
    mod spirals;
    mod staged;
    mod state_machine;
    mod statistics;
    mod stories;
    mod support;
    mod told;
    mod versions;
    mod writing;
}
