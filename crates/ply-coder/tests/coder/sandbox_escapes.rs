//! Commands that the sandbox keeps from their work: recognised, explained, and let out by a person or
//! through the proxy.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use ply_coder::permission::{Mode, Permissions, Rule, Stores, Verdict};
use ply_coder::shell::{Confinement, Error, Exit, Processes, Sandbox};
use ply_coder::tool::Access;

use crate::sandbox_support::Place;
use crate::shell_support::Card;

#[tokio::test]
async fn a_denial_is_recognised_also_behind_a_pipe() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    std::fs::create_dir(place.root.join(".git")).unwrap();
    for (command, reason) in [
        ("echo x >OUT/new", "only these are writable: "),
        ("(echo x >OUT/new) 2>&1 | cat", "only these are writable: "),
        ("cp own OUT/new || true", "only these are writable: "),
        ("echo x >.git/config 2>&1 | tail -5", "`.git` is read-only"),
        (
            "echo 'fatal: could not resolve host: example.org' >&2; exit 128",
            "it has no network",
        ),
        (
            "getent hosts example.org || echo 'Temporary failure in name resolution' | head",
            "it has no network",
        ),
    ] {
        let ran = place.run(command).await;
        let denial = ran
            .denial
            .as_ref()
            .unwrap_or_else(|| panic!("{command}: {ran:?}"));
        assert!(
            denial.reason.contains(reason) && denial.certain,
            "{command}: {ran:?}"
        );
        assert!(
            ran.text().contains("[the sandbox denied this: "),
            "{}",
            ran.text()
        );
        assert!(ran.text().contains("`outside_sandbox`"), "{}", ran.text());
    }
    for command in ["cat none", "echo Permission denied", "false", "exit 3"] {
        let ran = place.run(command).await;
        assert_eq!((ran.denial, ran.notes), (None, Vec::new()), "{command}");
    }
    let ran = place.run("cat /proc/1/environ").await;
    assert!(!ran.denial.unwrap().certain);
}

#[tokio::test]
async fn a_command_runs_outside_only_where_it_may_change_things() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let mut line = place.line("echo x >OUT/new && echo out");
    line.outside = true;
    let ran = place.run_line(&line).await;
    assert_eq!((ran.output.as_str(), ran.exit), ("out\n", Exit::Code(0)));
    assert!(place.outside.join("new").exists());
    place.processes.confine(Confinement::ReadOnly);
    let refused = place.processes.run(&line, &Card::new()).await;
    assert!(
        matches!(refused, Err(Error::ReadOnlyOutside)),
        "{refused:?}"
    );
    let refused = Processes::default();
    refused.confine(Confinement::ReadOnly);
    assert!(refused.run(&line, &Card::new()).await.is_err());
}

#[test]
fn running_outside_is_asked_about_each_time_in_every_mode_with_the_reason() {
    let rules = |decision: &str, rule: &str| {
        let decision = match decision {
            "allow" => ply_coder::permission::Decision::Allow,
            _ => ply_coder::permission::Decision::Deny,
        };
        vec![Rule::parse(decision, rule).unwrap()]
    };
    let access = [Access::Outside {
        command: "cargo test".to_owned(),
        cwd: "/p".into(),
        reason: "to fetch\ncrates".to_owned(),
    }];
    let decide = |mode, rules| {
        let permissions = Permissions::new(vec!["/p".into()], rules, Stores::default());
        permissions.decide(mode, &access)
    };
    for mode in [Mode::Ask, Mode::AutoEdit, Mode::Full] {
        let verdict = decide(mode, rules("allow", "shell(cargo test *)"));
        let Verdict::Ask(question) = verdict else {
            panic!("{mode:?}: {verdict:?}");
        };
        assert_eq!(question.title, "Run `cargo test` outside of the sandbox");
        assert!(question.description.contains("to fetch"), "{question:?}");
        assert!(
            !question.description.contains("fetch\ncrates"),
            "{question:?}"
        );
        assert!(question.remember.is_empty());
        let denied = decide(mode, rules("deny", "shell(cargo *)"));
        assert!(matches!(denied, Verdict::Deny(_)), "{denied:?}");
    }
    let planned = decide(Mode::Plan, Vec::new());
    assert!(matches!(planned, Verdict::Deny(_)), "{planned:?}");
}

/// Answers every connection with the first line that comes in, for as long as the test runs.
fn echo_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(stream.try_clone().unwrap())
                .read_line(&mut line)
                .unwrap();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nheard {line}"
            )
            .unwrap();
        }
    });
    port
}

#[tokio::test]
async fn allowed_hosts_are_reached_through_the_proxy_and_no_others() {
    let (allowed, other) = (echo_server(), echo_server());
    let Some(place) = Place::unattended(|sandbox| {
        sandbox.hosts = vec![format!("localhost:{allowed}").parse().unwrap()];
    })
    .await
    else {
        return;
    };
    let proxy = "exec 3<>/dev/tcp/127.0.0.1/3128;";
    let tunnel = format!(
        r"{proxy} printf 'CONNECT localhost:{allowed} HTTP/1.1\r\n\r\n' >&3; read -r status <&3; echo $status; \
          read -r <&3; printf 'hello\n' >&3; cat <&3"
    );
    let said = place.works(&tunnel).await;
    assert!(
        said.starts_with("HTTP/1.1 200 ") && said.contains("heard hello"),
        "{said}"
    );
    let plain = format!(
        r"{proxy} printf 'GET http://localhost:{allowed}/x HTTP/1.1\r\nHost: y\r\n\r\n' >&3; cat <&3"
    );
    let said = place.works(&plain).await;
    assert!(said.contains("heard GET /x HTTP/1.1"), "{said}");
    for target in [
        format!("localhost:{other}"),
        format!("127.0.0.1:{allowed}"),
        "example.org:443".to_owned(),
    ] {
        let script =
            format!(r"{proxy} printf 'CONNECT {target} HTTP/1.1\r\n\r\n' >&3; cat <&3 | head -1");
        let ran = place.run(&script).await;
        assert!(ran.output.starts_with("HTTP/1.1 403 "), "{ran:?}");
        let denial = ran.denial.unwrap();
        assert_eq!(
            denial.reason,
            format!("it does not allow connections to {target}")
        );
    }
    // Nothing but the proxy is there, and programs know of it.
    place
        .fails(&format!("exec 3<>/dev/tcp/127.0.0.1/{allowed}"))
        .await;
    let said = place.works("echo $https_proxy $HTTP_PROXY $no_proxy").await;
    assert_eq!(
        said,
        "http://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1,::1\n"
    );
    // A process in the background has its own door.
    let id = place
        .processes
        .start(&place.line("sleep 1000"))
        .await
        .unwrap();
    assert!(place.works(&tunnel).await.contains("heard hello"));
    place.processes.stop(&id).await.unwrap();
}

#[tokio::test]
async fn a_filled_cache_is_enough_to_build_without_a_network() {
    let Some(place) = Place::unattended(|sandbox| {
        let around = sandbox.temporary[0].parent().unwrap().to_owned();
        sandbox.cache = Some(around.join("state/cache"));
        sandbox.temporary = Sandbox::default().temporary;
    })
    .await
    else {
        return;
    };
    // A package of the registry, as Cargo keeps it, from a place that the command may only read.
    let home = place.scratch.dir("cargo-home");
    let vendored = place.scratch.dir("cargo-home/vendored/small");
    std::fs::create_dir(vendored.join("src")).unwrap();
    std::fs::write(vendored.join("src/lib.rs"), "pub fn one() -> u32 { 1 }").unwrap();
    let manifest = "[package]\nname = \"small\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    std::fs::write(vendored.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(vendored.join(".cargo-checksum.json"), r#"{"files":{}}"#).unwrap();
    let config = format!(
        "[source.crates-io]\nreplace-with = \"filled\"\n[source.filled]\ndirectory = \"{}\"\n",
        vendored.parent().unwrap().display()
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    let manifest = "[package]\nname = \"fresh\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\nsmall = \"1\"\n";
    std::fs::write(place.root.join("Cargo.toml"), manifest).unwrap();
    std::fs::create_dir(place.root.join("src")).unwrap();
    let code = "#[test]\nfn works() { assert_eq!(small::one(), 1); }";
    std::fs::write(place.root.join("src/lib.rs"), code).unwrap();
    let script = format!("CARGO_HOME={} cargo test 2>&1", home.display());
    let said = place.works(&script).await;
    assert!(said.contains("test works ... ok"), "{said}");
    assert!(place.root.join("target").exists());
    // Package managers without a network still have a cache to write to.
    place.works("for v in npm_config_cache PIP_CACHE_DIR GOCACHE XDG_CACHE_HOME; do mkdir -p \"${!v}\" && echo x >\"${!v}/x\" || exit; done").await;
    assert!(!home.join("registry").exists());
}
