//! The program `ply`.

mod program;

fn main() -> std::process::ExitCode {
    program::main()
}
