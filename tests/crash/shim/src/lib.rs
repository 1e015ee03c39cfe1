//! A library to preload that kills a program, or fails it, at one call on its files.
//!
//! It stands before the C library's calls that change or read files (`calls`), counts those on files of one directory, and at
//! the one with a certain number does what its environment asks for (`plan`). All other calls, such as those on pipes, pass.
//!
//! A program killed at its Nth write is killed there on every machine, without a tracer.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod board;
mod calls;
mod plan;
