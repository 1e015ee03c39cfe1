//! What standard output carries.

use insta::assert_snapshot;
use serde_json::Value;

use crate::place::Place;

#[test]
fn text_is_what_happens() {
    let ran = Place::new()
        .run_hostile("", &["--permit", "all", "edit"])
        .ends_with(0);
    let stdout = ran.stdout.rsplit_once("\n— ").unwrap().0.to_owned();
    assert_snapshot!(stdout, @r"
    Allowed.

    ✓ Write a.txt  edit  /w/a.txt
        --- /w/a.txt
        +++ /w/a.txt
        @@ -1 +1 @@
        -one
        +two
    ");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_call_ends_where_it_ended_though_all_was_told_at_once() {
    let ran = Place::new().run_hostile("", &["all at once"]).ends_with(0);
    let at = |words: &str| ran.stdout.find(words).unwrap_or_else(|| panic!("{ran:#?}"));
    assert!(at("Plan") < at("✓ Look"), "{ran:#?}");
}

#[test]
fn final_is_the_last_message_and_nothing_else() {
    let ran = Place::new()
        .run_hostile("noise", &["--output", "final", "say"])
        .ends_with(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("Hello, world.\n", "")
    );
}

#[test]
fn json_is_one_object_with_everything() {
    let ran = Place::new().run_hostile("", &["--permit", "all", "--output", "json", "edit"]);
    let mut object = ran.ends_with(0).json();
    assert!(object["durationMs"].take().is_u64());
    assert!(object["cwd"].take().is_string());
    assert_snapshot!(format!("{object:#}"));
}

#[test]
fn files_changed_without_a_diff_are_taken_from_the_locations_of_calls() {
    let ran = Place::new().run_hostile("", &["--output", "json", "no diff"]);
    let object = ran.ends_with(0).json();
    let changed: Vec<_> = object["changedFiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["change"], it["path"]).replace('"', ""))
        .collect();
    let expected = [
        "modified /w/a.txt",
        "deleted /w/b.txt",
        "moved /w/c.txt",
        "added /w/f.txt",
    ];
    assert_eq!(changed, expected);
}

#[test]
fn events_are_numbered_lines_from_the_opening_to_the_end() {
    let ran = Place::new().run_hostile("", &["--permit", "all", "--output", "events", "edit"]);
    let lines = ran.ends_with(0).lines();
    for (place, line) in lines.iter().enumerate() {
        assert_eq!((&line["v"], &line["seq"]), (&1.into(), &(place + 1).into()));
        assert!(line["t"].is_string());
    }
    let kind = |line: &Value| line["kind"].as_str().unwrap().to_owned();
    let kinds: Vec<_> = lines.iter().map(kind).collect();
    assert_eq!(kinds.first().unwrap(), "opened");
    assert_eq!(kinds.last().unwrap(), "end");
    let asked = kinds.iter().position(|kind| kind == "permission").unwrap();
    assert_eq!(kinds[asked + 1], "permission_answered");
    assert_eq!(lines[asked + 1]["answered"]["optionId"], "yes");
    assert_eq!(lines.last().unwrap()["result"]["outcome"], "completed");
    let chunks = lines
        .iter()
        .filter(|line| line["update"]["sessionUpdate"] == "agent_message_chunk");
    assert_eq!(chunks.count(), 1);
}

#[test]
fn acp_is_the_lines_of_both_directions_as_they_are() {
    let place = Place::new();
    let ran = place
        .run_hostile("noise", &["--output", "acp", "say"])
        .ends_with(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    // What was sent is there word by word, and so is what came, noise and all.
    for sent in place.notes().lines().filter(|line| line.starts_with('{')) {
        assert!(lines.contains(&sent), "{sent}");
    }
    assert!(lines.contains(&"{not json}") && lines.contains(&"\u{1b}[31mnpm WARN\u{1b}[0m"));
    let answered = r#""result":{"stopReason":"end_turn"}}"#;
    assert!(
        lines.iter().any(|line| line.ends_with(answered)),
        "{lines:#?}"
    );
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(first["method"], "initialize");
}

/// An agent of version 2 that has something to tell beside its work.
const TELLING: &str = r#"
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
update() { say "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}"; }
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case "$line" in
    *'"method":"initialize"'*) say "\"id\":$id,\"result\":{\"protocolVersion\":2,\"info\":{\"name\":\"telling\",\"version\":\"1\"},\"capabilities\":{\"session\":{\"prompt\":{}}}}" ;;
    *'"method":"session/new"'*) say "\"id\":$id,\"result\":{\"sessionId\":\"s\"}" ;;
    *'"method":"session/prompt"'*)
        update '{"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hi"}]}'
        say "\"id\":$id,\"result\":{\"messageId\":\"u\"}"
        update '{"sessionUpdate":"state_update","state":"running"}'
        update '{"sessionUpdate":"notice","severity":"info","title":"Nice day"}'
        update '{"sessionUpdate":"notice","severity":"warning","title":"Quota","description":"9% \u001b[31mleft"}'
        update '{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}'
        ;;
    esac
done
"#;

#[test]
fn warnings_of_the_agent_are_told_where_the_output_has_no_place_for_them() {
    let place = Place::new();
    let told = |format: &str| {
        let arguments = ["--output", format, "hi", "--", "sh", "-c", TELLING];
        place.run(&arguments).ends_with(0)
    };
    for format in ["final", "json", "md"] {
        let ran = told(format);
        let words = "the agent says: warning: Quota: 9% \\u{1b}[31mleft\n";
        assert_eq!(ran.stderr, words, "{format}");
    }
    let object = told("json").json();
    assert_eq!(object["notices"][0]["title"], "Nice day");
    assert_eq!(object["notices"][1]["severity"], "warning");
    let text = told("text");
    assert_eq!(text.stderr, "");
    assert!(text.stdout.contains("! warning: Quota"), "{text:#?}");
}

#[test]
fn what_is_said_on_standard_error_is_not_in_the_middle_of_a_line() {
    let ran = Place::new().run_hostile("", &["mid-line and edit"]);
    assert!(ran.stderr.contains("permission refused"), "{ran:#?}");
    assert!(ran.stdout.starts_with("I am going to\n"), "{ran:#?}");
    let ran = Place::new().run_hostile("", &["think and edit"]);
    assert!(ran.stdout.starts_with("~ It is the handle.\n"), "{ran:#?}");
}

#[test]
fn md_is_a_document() {
    let place = Place::new();
    let ran = place
        .run_hostile("", &["--permit", "all", "--output", "md", "edit"])
        .ends_with(0);
    let root = place.path("project");
    assert_snapshot!(ran.stdout.replace(root.to_str().unwrap(), "CWD"));
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let place = Place::new();
    let painted = place.run_hostile("", &["--permit", "all", "--color", "always", "edit"]);
    assert!(
        painted.stdout.contains("\u{1b}[32m✓\u{1b}[0m"),
        "{painted:#?}"
    );
    let plain = place.run_hostile("", &["--permit", "all", "--color", "never", "edit"]);
    assert!(!plain.stdout.contains('\u{1b}'), "{plain:#?}");
}

#[test]
fn quiet_leaves_errors_alone_on_standard_error() {
    let place = Place::new();
    let loud = place.run_hostile("", &["edit"]).ends_with(5);
    assert!(
        loud.stderr
            .contains("permission refused (nobody can be asked"),
        "{loud:#?}"
    );
    let quiet = place.run_hostile("", &["--quiet", "edit"]).ends_with(5);
    assert!(
        quiet
            .stderr
            .starts_with("error: the agent ended its turn without a permission"),
        "{quiet:#?}"
    );
}

#[test]
fn either_version_can_be_asked_for() {
    let place = Place::new();
    for (version, spoken) in [("1", 1), ("2", 2), ("auto", 2)] {
        let ran = place.run(&["--protocol", version, "--output", "json", "hello"]);
        assert_eq!(ran.ends_with(0).json()["protocolVersion"], spoken);
    }
    let ran = place
        .run_hostile("", &["--protocol", "2", "say"])
        .ends_with(7);
    assert!(ran.stderr.contains("version"), "{ran:#?}");
    assert!(ran.stderr.contains("leave out `--protocol`"), "{ran:#?}");
}
