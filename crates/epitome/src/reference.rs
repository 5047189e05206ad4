//! The five reference designs, step by step: their formulas, ranges and texts.
//!
//! One module each, one shape each: estimate, decide, select, lay out. These are the bare steps; what a model gets
//! is a view, and a view obeys the rules of its provider whatever a step would leave.

pub mod layer;
pub mod micro;
pub mod openclaw;
pub mod spacebot;
pub mod vibe;
