//! `cargo xtask demo`: terminal sessions of the program, recorded as pictures for the documents.

use std::path::{Path, PathBuf};

use terminal_tests::Background;
use terminal_tests::pictures::{Palette, moving_svg, png};
use terminal_tests::scenes::{Kept, Sample, Scene, record, scenes};

use crate::Result;
use crate::build::{Profile, build};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The scenes to record; all if none is named
    names: Vec<String>,
    /// Where the pictures go
    #[arg(long, value_name = "DIR", default_value = "docs")]
    out: PathBuf,
    /// The program, if it is built already
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// On a light terminal
    #[arg(long)]
    light: bool,
    /// On a terminal of another size
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
    size: Option<(u16, u16)>,
}

fn size(words: &str) -> std::result::Result<(u16, u16), String> {
    let sides = words.split_once('x');
    let sides = sides.and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    sides.ok_or_else(|| "a size is written as 80x24".to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = match &arguments.program {
        Some(program) => program.canonicalize()?,
        None => build("ply-cli", "ply", profile()?)?,
    };
    // The scenes start in a home of their own, so that a picture shows nothing of this machine.
    let sample = Sample::new()?;
    let scenes = scenes(&program, &sample);
    for name in &arguments.names {
        if !scenes.iter().any(|scene| scene.name == name) {
            let known: Vec<_> = scenes.iter().map(|scene| scene.name).collect();
            return Err(
                format!("there is no scene {name}; there are: {}", known.join(", ")).into(),
            );
        }
    }
    std::fs::create_dir_all(&arguments.out)?;
    let palette = match arguments.light {
        true => Palette::light(),
        false => Palette::dark(),
    };
    for mut scene in scenes {
        if let Some((columns, rows)) = arguments.size {
            scene.launch = scene.launch.size(columns, rows);
        }
        if arguments.light {
            scene.launch = scene.launch.background(Background::Light);
        }
        if arguments.names.is_empty() || arguments.names.iter().any(|name| name == scene.name) {
            make(&scene, &arguments.out, &palette)?;
        }
    }
    Ok(())
}

/// A release build, if there is one already; it takes minutes to make the first.
fn profile() -> Result<Profile> {
    let own = std::env::current_exe()?;
    let beside = own
        .parent()
        .map(|directory| directory.join("../release/ply"));
    match beside.is_some_and(|release| release.exists()) {
        true => Ok(Profile::Release),
        false => Ok(Profile::Dev),
    }
}

#[expect(clippy::print_stderr, reason = "a task says what it wrote")]
fn make(scene: &Scene, out: &Path, palette: &Palette) -> Result<()> {
    let recording = record(scene)?;
    let write = |name: String, bytes: &[u8]| -> Result<()> {
        let path = out.join(name);
        std::fs::write(&path, bytes)?;
        eprintln!(
            "wrote {} ({} KiB)",
            path.display(),
            bytes.len().div_ceil(1024)
        );
        Ok(())
    };
    if scene.kept == Kept::MovingPicture {
        let svg = moving_svg(&recording.frames, scene.title, palette);
        write(format!("{}.svg", scene.name), svg.as_bytes())?;
    }
    for (name, shot) in &recording.pictures {
        write(format!("{name}.png"), &png(shot, palette)?)?;
    }
    Ok(())
}
