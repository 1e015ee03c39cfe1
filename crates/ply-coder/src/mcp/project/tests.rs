use super::*;

fn parsed(text: &str) -> Found {
    parse(text, Path::new("/project"))
}

#[test]
fn the_common_format_is_read_and_unknown_fields_are_left_alone() {
    let found = parsed(
        r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "${B}"}, "timeout": 7},
            "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"X": "y"}},
            "bare": {"url": "https://example.org/bare"},
            "off": {"command": "x", "disabled": true}
        }, "other": 1}"#,
    );
    assert_eq!(found.problems, [] as [&str; 0]);
    let names = found
        .servers
        .iter()
        .map(|server| server.configured.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["bare", "files", "web"]);
    assert_eq!(
        found.servers[1].configured.way,
        Some(Way::Command {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "files".to_owned()],
            env: vec![("A".to_owned(), Secret::new("${B}"))],
        })
    );
}

#[test]
fn a_wrong_entry_is_told_and_harms_no_other() {
    let told = |text: &str| parsed(text).problems.join("\n");
    let all = [
        told("{"),
        told("[]"),
        told("{}"),
        told(r#"{"mcpServers": 1}"#),
        told(
            r#"{"mcpServers": {"a": 1, "b": {}, "c": {"command": "x", "url": "y"}, "d": {"type": "sse", "url": "y"},
                "e": {"type": "pigeon", "url": "y"}, "f": {"command": ["x"]}, "g": {"command": "x", "args": "y"},
                "h": {"command": "x", "env": {"A": 1}}, " ": {"command": "x"}}}"#,
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    `.mcp.json` is no JSON at line 1, column 1, so no server of it is used; correct it.
    `.mcp.json` must be `{"mcpServers": {"NAME": {"command": "…"}}}`, so no server of it is used; correct it.

    `.mcp.json` must be `{"mcpServers": {"NAME": {"command": "…"}}}`, so no server of it is used; correct it.
    The MCP server `` in `.mcp.json`: it has no name; give it one.
    The MCP server `a` in `.mcp.json`: it must be an object.
    The MCP server `b` in `.mcp.json`: it needs a `command`, or a `url` and the type `http`.
    The MCP server `c` in `.mcp.json`: it has a `command` and a `url`; keep one of them.
    The MCP server `d` in `.mcp.json`: the transport SSE was replaced by streamable HTTP; give it as type `http`.
    The MCP server `e` in `.mcp.json`: the transport `pigeon` is not supported; use `stdio` or `http`.
    The MCP server `f` in `.mcp.json`: `command` must be a text.
    The MCP server `g` in `.mcp.json`: `args` must be a list of texts.
    The MCP server `h` in `.mcp.json`: `env` must be an object of texts.
    "#);
}

#[test]
fn any_change_of_an_entry_is_another_version() {
    let version = |entry: &str| {
        let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
        parsed(&text).servers[0].version.clone()
    };
    let first = version(r#"{"command": "x", "args": ["y"]}"#);
    assert_eq!(first.len(), 2 * VERSION_BYTES);
    assert_eq!(first, version(r#"{ "args": ["y"],  "command": "x"}"#));
    for other in [
        r#"{"command": "x", "args": ["z"]}"#,
        r#"{"command": "x", "args": ["y"], "env": {"A": "1"}}"#,
        r#"{"command": "x", "args": ["y"], "note": 1}"#,
    ] {
        assert_ne!(first, version(other), "{other}");
    }
}

#[test]
fn the_nearer_file_counts_and_a_link_is_no_file() {
    let place = tempfile::tempdir().unwrap();
    let inner = place.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let write = |directory: &Path, command: &str, more: &str| {
        let text = format!(r#"{{"mcpServers": {{"a": {{"command": "{command}"}}{more}}}}}"#);
        std::fs::write(directory.join(FILE), text).unwrap();
    };
    write(place.path(), "outer", r#", "b": {"command": "outer"}"#);
    write(&inner, "inner", "");
    let found = read(&inner, Some(place.path()));
    let of = |name: &str| {
        let mut servers = found.servers.iter();
        let server = servers.find(|server| server.configured.name == name);
        server.unwrap().directory.clone()
    };
    assert_eq!((of("a"), of("b")), (inner.clone(), place.path().to_owned()));
    std::fs::rename(inner.join(FILE), inner.join("real")).unwrap();
    std::os::unix::fs::symlink("real", inner.join(FILE)).unwrap();
    assert_eq!(read(&inner, None), Found::default());
}

#[test]
fn a_file_that_is_too_long_is_told() {
    let place = tempfile::tempdir().unwrap();
    let text = " ".repeat(usize::try_from(FILE_BYTES_MAX).unwrap() + 1);
    std::fs::write(place.path().join(FILE), text).unwrap();
    let found = read(place.path(), None);
    assert!(found.problems[0].contains("longer than"), "{found:?}");
}
