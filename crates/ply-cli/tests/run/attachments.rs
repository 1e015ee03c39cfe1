//! Files, pictures, directories and servers that go with the prompt.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::place::{Place, finish};

const TAKES_FILES: &str = r#"{"promptCapabilities":{"embeddedContext":true}}"#;
const TAKES_IMAGES: &str = r#"{"promptCapabilities":{"image":true}}"#;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

#[test]
fn g5_a_file_with_any_name_is_embedded_where_that_is_taken_and_text_elsewhere() {
    let place = Place::new();
    let name = Path::new(OsStr::from_bytes(b"odd \xff.txt"));
    let file = place.write(name, "what it says");
    for (caps, expected) in [
        (TAKES_FILES, r#"/odd%20%FF.txt""#),
        ("{}", r"/odd \\xff.txt:\n\n```\nwhat it says\n```"),
    ] {
        let mut command = place.hostile("", &[]);
        let given = command.get_args().map(OsStr::to_owned).collect::<Vec<_>>();
        let mut arguments = vec!["-f".into(), file.clone().into_os_string(), "look".into()];
        arguments.extend(given.into_iter().skip(1));
        command = place.ply(arguments);
        command.env("CAPS", caps);
        finish(command).ends_with(0);
        assert!(
            place.notes().contains(expected),
            "{expected}: {}",
            place.notes()
        );
        std::fs::remove_file(place.path("notes")).unwrap();
    }
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let place = Place::new();
    let file = place.write("picture.png", PNG);
    let ran = place
        .run_hostile("", &["-f", file.to_str().unwrap(), "look"])
        .ends_with(2);
    assert!(
        ran.stderr.contains("is not a text file") && ran.stderr.contains("--image"),
        "{ran:#?}"
    );
    place
        .run_hostile("", &["-f", "/no/such/file", "look"])
        .ends_with(2);
    place
        .run_hostile("", &["-f", "/dev/zero", "look"])
        .ends_with(2);
    assert_eq!(place.notes(), "");
}

#[test]
fn a_picture_goes_to_agents_that_take_pictures() {
    let place = Place::new();
    let file = place.write("picture", PNG);
    let arguments = ["--image", file.to_str().unwrap(), "look"];
    let ran = place.run_hostile("", &arguments).ends_with(2);
    assert!(ran.stderr.contains("does not take pictures"), "{ran:#?}");
    let mut command = place.hostile("", &arguments);
    command.env("CAPS", TAKES_IMAGES);
    finish(command).ends_with(0);
    assert!(
        place.notes().contains(r#""mimeType":"image/png""#),
        "{}",
        place.notes()
    );
    let text = place.write("text", "no picture");
    place
        .run_hostile("", &["--image", text.to_str().unwrap(), "look"])
        .ends_with(2);
}

#[test]
fn g5_a_directory_that_cannot_be_told_to_an_agent_is_refused_in_words() {
    let place = Place::new();
    let odd = place.path(OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&odd).unwrap();
    let mut command = place.ply([OsStr::new("-C"), odd.as_os_str(), OsStr::new("hello")]);
    let ran = finish(command).ends_with(2);
    assert!(ran.stderr.contains("odd\\xff cannot be passed"), "{ran:#?}");
    command = place.ply(["hello"]);
    command.current_dir(&odd);
    finish(command).ends_with(2);
    place
        .run(&["-C", "/no/such/directory", "hello"])
        .ends_with(2);
}

#[test]
fn more_directories_are_for_agents_that_take_them() {
    let place = Place::new();
    let other = place.path("tmp");
    let ran = place
        .run_hostile("", &["--add-dir", other.to_str().unwrap(), "say"])
        .ends_with(2);
    assert!(ran.stderr.contains("additional directories"), "{ran:#?}");
    place
        .run(&["--add-dir", other.to_str().unwrap(), "hello"])
        .ends_with(0);
}

#[test]
fn servers_come_from_a_file() {
    let place = Place::new();
    let servers = r#"{"mcpServers": {"files": {"command": "sh", "args": ["-c", "exit"], "env": {"A": "b"}}}}"#;
    let file = place.write("mcp.json", servers);
    place
        .run_hostile("", &["--mcp", file.to_str().unwrap(), "say"])
        .ends_with(0);
    assert!(
        place.notes().contains(r#""args":["-c","exit"]"#),
        "{}",
        place.notes()
    );
    let wrong = place.write("wrong.json", "{}");
    place
        .run_hostile("", &["--mcp", wrong.to_str().unwrap(), "say"])
        .ends_with(2);
}
