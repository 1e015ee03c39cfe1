//! Agents that are programs in archives.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::place::{PLY, Place};

/// An entry of an archive: its name, its kind in the words of tar, what it links to, its mode, and its content.
struct Member<'a> {
    name: &'a str,
    kind: u8,
    link: &'a str,
    mode: u32,
    content: &'a str,
}

fn file<'a>(name: &'a str, content: &'a str) -> Member<'a> {
    Member {
        name,
        kind: b'0',
        link: "",
        mode: 0o755,
        content,
    }
}

fn link<'a>(name: &'a str, to: &'a str) -> Member<'a> {
    Member {
        kind: b'2',
        link: to,
        ..file(name, "")
    }
}

/// Returns an archive, written by hand: no tar of the system would make some of these.
fn archive(members: &[Member<'_>]) -> Vec<u8> {
    let mut tar = Vec::new();
    for member in members {
        let mut head = [0_u8; 512];
        let mut put = |at: usize, text: &str| {
            head[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(0, member.name);
        put(100, &format!("{:07o}", member.mode));
        put(108, "0000000");
        put(116, "0000000");
        put(124, &format!("{:011o}", member.content.len()));
        put(136, "00000000000");
        put(148, "        ");
        put(156, &char::from(member.kind).to_string());
        put(157, member.link);
        put(257, "ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(head);
        tar.extend(member.content.as_bytes());
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}

fn gzip(place: &Place, bytes: &[u8]) -> Vec<u8> {
    let path = place.path().join("archive.tar");
    fs::write(&path, bytes).unwrap();
    let packed = Command::new("gzip").arg("-c").arg(&path).output().unwrap();
    assert!(packed.status.success());
    packed.stdout
}

fn checksum(bytes: &[u8]) -> String {
    let bytes = digest(&SHA256, bytes);
    bytes
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Puts an agent with an archive into the registry.
fn offer(place: &Place, archive: &[u8], sha256: Option<String>) -> Value {
    place.registry.put("pot.tar.gz", archive);
    let mut binary = json!({"archive": place.registry.url("pot.tar.gz"), "cmd": "./dist/pot"});
    if let Some(sha256) = sha256 {
        binary["sha256"] = sha256.into();
    }
    let platforms = ["linux", "darwin"].into_iter();
    let platforms =
        platforms.flat_map(|system| [format!("{system}-x86_64"), format!("{system}-aarch64")]);
    let binaries: serde_json::Map<_, _> = platforms
        .map(|platform| (platform, binary.clone()))
        .collect();
    let entry = json!({"id": "pot", "name": "Pot", "version": "2.0.0", "distribution": {"binary": binaries}});
    place.registry.index(json!([entry]));
    entry
}

fn script() -> String {
    format!("#!/bin/sh\nexec {PLY} agent\n")
}

#[test]
fn a_program_with_its_checksum_is_installed_and_runs() {
    let place = Place::new();
    let packed = gzip(
        &place,
        &archive(&[file("dist/pot", &script()), link("dist/same", "pot")]),
    );
    offer(&place, &packed, Some(checksum(&packed)));
    assert_eq!(
        place.says(&["agents", "add", "pot"]),
        "installed\tpot\t2.0.0\n"
    );
    assert_eq!(place.lock()["agents"]["pot"]["sha256"], checksum(&packed));
    let said = place.says(&["run", "-a", "pot", "--no-hub", "hello"]);
    assert!(!said.trim().is_empty());
}

#[test]
fn a_program_with_another_checksum_or_none_is_refused() {
    let place = Place::new();
    let packed = gzip(&place, &archive(&[file("dist/pot", &script())]));
    offer(&place, &packed, Some("0".repeat(64)));
    let told = place.fails(&["agents", "add", "pot"]);
    assert!(
        told.contains("the checksum of") && told.contains("is expected"),
        "{told}"
    );
    let forced = place.fails(&["agents", "add", "pot", "--unverified"]);
    assert!(forced.contains("is expected"), "{forced}");
    offer(&place, &packed, None);
    assert!(
        place
            .fails(&["agents", "add", "pot"])
            .contains("--unverified")
    );
    assert_eq!(place.installed(), Vec::<String>::new());
    place.says(&["agents", "add", "pot", "--unverified"]);
    assert_eq!(place.lock()["agents"]["pot"]["sha256"], checksum(&packed));
}

#[test]
fn archives_that_lead_elsewhere_are_refused_and_leave_nothing() {
    let place = Place::new();
    let outside: PathBuf = place.path().join("outside");
    let outside_name = outside.to_string_lossy();
    let escaping = format!("{outside_name}/x");
    let pot = || file("dist/pot", "#!/bin/sh\n");
    for (what, members) in [
        ("absolute", vec![pot(), file(&escaping, "evil")]),
        ("parent", vec![pot(), file("../../../../outside/x", "evil")]),
        ("link away", vec![pot(), link("dist/away", "/etc/passwd")]),
        ("link up", vec![pot(), link("dist/up", "../../..")]),
        (
            "through a link",
            vec![pot(), link("d", &outside_name), file("d/x", "evil")],
        ),
        ("link to nowhere", vec![pot(), link("dist/none", "gone")]),
        ("no program", vec![file("dist/kettle", "x")]),
        (
            "pipe",
            vec![
                pot(),
                Member {
                    kind: b'6',
                    ..file("dist/pipe", "")
                },
            ],
        ),
    ] {
        fs::create_dir_all(&outside).unwrap();
        let packed = gzip(&place, &archive(&members));
        offer(&place, &packed, Some(checksum(&packed)));
        let told = place.fails(&["agents", "add", "pot"]);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{what}: {told}");
        assert_eq!(place.installed(), Vec::<String>::new(), "{what}: {told}");
    }
}

#[test]
fn a_program_that_is_not_packed_is_installed_as_it_is() {
    let place = Place::new();
    let mut entry = offer(&place, b"", Some(checksum(script().as_bytes())));
    place.registry.put("pot-linux", script());
    let url = place.registry.url("pot-linux");
    for binary in entry["distribution"]["binary"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        binary["archive"] = url.clone().into();
    }
    place.registry.index(json!([entry]));
    place.says(&["agents", "add", "pot"]);
    assert!(
        place
            .says(&["agents", "doctor", "pot"])
            .contains("starts as")
    );
}
