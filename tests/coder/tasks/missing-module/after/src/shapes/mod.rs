//! Shapes and their sizes.

pub mod circle;
