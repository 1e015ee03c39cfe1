//! What the sandbox denies and allows, tried by real commands. Needs a kernel with Landlock.

use std::path::PathBuf;

use ply_coder::shell::{Confinement, Exit, Line, Processes, Sandbox};

use crate::sandbox_support::{Place, helper, is_apart};
use crate::shell_support::{Card, PATIENCE, Scratch};

#[tokio::test]
async fn the_workspace_and_temporary_files_are_writable() {
    let place = Place::new(|_| {}).await;
    let ran = place
        .run("mkdir -p a/b && echo x >a/b/c && mv a/b/c d && rm -r a && cat d own ../outside/victim \
              && echo x >../temp/t && echo x >/dev/null && ls / >/dev/null && ln own hard && ln -s own soft")
        .await;
    assert_eq!(
        (ran.output.as_str(), ran.exit),
        ("x\nownbefore", Exit::Code(0))
    );
    if is_apart(&place.processes.support().await) {
        assert!(
            !place.scratch.0.join("temp/t").exists(),
            "it is the session's own"
        );
        assert_eq!(place.works("cat ../temp/t").await, "x\n");
        assert_eq!(place.processes.sandbox_notice(), None);
    }
}

#[tokio::test]
async fn the_systems_temporary_files_are_writable() {
    let place = Place::new(|sandbox| sandbox.temporary = Sandbox::default().temporary).await;
    let ran = place
        .run("t=$(mktemp /tmp/ply-XXXXXX) && echo x >$t && cat $t && rm $t")
        .await;
    assert_eq!((ran.output.as_str(), ran.exit), ("x\n", Exit::Code(0)));
}

#[tokio::test]
async fn directories_of_the_user_are_writable_too() {
    let place = Place::new(|sandbox| {
        let temporary = sandbox.temporary[0].parent().unwrap();
        sandbox.writable = vec![temporary.join("outside"), "/does/not/exist".into()];
    })
    .await;
    let ran = place.run("echo after >../outside/victim").await;
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
}

#[tokio::test]
async fn h15_nothing_outside_is_changed() {
    let place = Place::new(|_| {}).await;
    let before = place.outside();
    for attempt in [
        "echo x >OUT/new",
        "echo x >>OUT/victim",
        ": >OUT/victim",
        "truncate -s 0 OUT/victim",
        "rm -f OUT/victim",
        "rmdir OUT/empty",
        "mkdir OUT/new",
        "mkfifo OUT/new",
        "ln -s own OUT/new",
        "mv OUT/victim .",
        "mv OUT/victim OUT/other",
        "mv own OUT/new",
        "mv OUT/empty .",
        "ln own OUT/new",
        "ln OUT/victim here && echo x >here",
        "ln -s OUT/victim link && echo x >link",
        "ln -s OUT door && echo x >door/new",
        "cd OUT && echo x >new",
        "echo x >/proc/self/root/OUT/new",
        "echo x >/proc/self/cwd/../outside/new",
        "exec 5<OUT/victim && echo x >/proc/self/fd/5",
        "mount --bind . OUT",
        "unshare -m mount --bind . OUT",
        "unshare -Urm mount --bind . OUT",
        "bash -c 'bash -c \"echo x >OUT/new\"'",
        "setsid -w sh -c 'echo x >OUT/new'",
        "sh -c 'sleep 0; echo x >OUT/new' & wait $!",
        "find OUT -name victim -delete; [ ! -e OUT/victim ]",
        "HELPER __sandboxed --write OUT -- sh -c 'echo x >OUT/new'",
    ] {
        let line = attempt.replace("OUT", place.outside.to_str().unwrap());
        let line = line.replace("HELPER", helper().to_str().unwrap());
        let ran = place.run(&line).await;
        assert_ne!(ran.exit, Exit::Code(0), "{attempt}: {ran:?}");
        assert_eq!(place.outside(), before, "{attempt}: {ran:?}");
        // Each attempt begins with the same workspace.
        place.run("rm -f here link door; echo own >own").await;
    }
}

#[tokio::test]
async fn h15_the_agent_is_out_of_reach() {
    let place = Place::new(|_| {}).await;
    let agent = std::process::id().to_string();
    for attempt in [
        "kill -0 AGENT",
        "kill -CONT AGENT",
        "cat /proc/AGENT/environ",
        "head -c 1 /proc/AGENT/mem",
        "readlink /proc/AGENT/fd/1",
        "echo x >/proc/AGENT/fd/1",
        "cat /proc/AGENT/root/etc/passwd",
        "echo 0 >/proc/AGENT/oom_score_adj",
    ] {
        let ran = place.run(&attempt.replace("AGENT", &agent)).await;
        assert_ne!(ran.exit, Exit::Code(0), "{attempt}: {ran:?}");
    }
    // Root keeps its other powers, and none of these; nobody else has any.
    let powers = "grep CapEff /proc/self/status | cut -f 2";
    let ran = place.run(powers).await;
    let held = u64::from_str_radix(ran.output.trim(), 16).unwrap();
    let (module, admin, perfmon) = (1 << 16, 1 << 21, 1 << 38);
    assert_eq!(held & (module | admin | perfmon), 0, "{ran:?}");
    let ran = place
        .run("sleep 1000 & kill $! && echo own children can be signalled")
        .await;
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
}

#[tokio::test]
async fn h15_without_network_nothing_connects() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let place = Place::new(|sandbox| sandbox.network = Some(false)).await;
    let ran = place.run(&line).await;
    assert!(
        !ran.exit.is_success() && !ran.output.contains("connected"),
        "{ran:?}"
    );
    let place = Place::new(|_| {}).await;
    let ran = place.run(&line).await;
    assert_eq!(
        (ran.output.as_str(), ran.exit),
        ("connected\n", Exit::Code(0))
    );
}

#[tokio::test]
async fn what_may_only_read_writes_temporary_files_only() {
    let place = Place::new(|_| {}).await;
    place.processes.confine(Confinement::ReadOnly);
    let ran = place.run("cat own; echo x >../temp/t && echo x >own").await;
    assert!(
        !ran.exit.is_success() && ran.output.starts_with("own"),
        "{ran:?}"
    );
    place.works("cat ../temp/t").await;
    assert_eq!(
        std::fs::read_to_string(place.root.join("own")).unwrap(),
        "own"
    );
    let writable = place.scratch.0.join("temp");
    let hint = format!("only these are writable: {}", writable.display());
    assert!(ran.text().contains(&hint), "{}", ran.text());
}

#[tokio::test]
async fn a_denial_is_explained_and_other_failures_are_not() {
    let place = Place::new(|_| {}).await;
    let ran = place.run("echo x >../outside/new").await;
    let text = ran.text();
    assert!(text.contains("denied this"), "{text}");
    assert!(text.contains(place.root.to_str().unwrap()), "{text}");
    let ran = place.run("cat none").await;
    assert!(ran.notes.is_empty() && !ran.exit.is_success(), "{ran:?}");
    let ran = place.run("echo Permission denied").await;
    assert!(ran.notes.is_empty() && ran.exit.is_success(), "{ran:?}");
}

#[tokio::test]
async fn processes_in_the_background_are_confined() {
    let place = Place::new(|_| {}).await;
    let before = place.outside();
    let line = Line::new("echo x >../outside/new || echo x >new; cat", &place.root);
    let id = place.processes.start(&line).await.unwrap();
    place.processes.write(&id, None).await.unwrap();
    let mut output = String::new();
    while !output.contains("exit code 0") {
        output += &place.processes.output(&id, PATIENCE).await.unwrap();
    }
    assert!(place.root.join("new").exists(), "{output}");
    assert_eq!(place.outside(), before);
}

#[tokio::test]
async fn a_confined_tree_can_be_ended() {
    for (script, exit) in [
        (
            "exec 9>../witness; (setsid sh -c 'trap \"\" TERM; echo up; while :; do sleep 1; done' &); \
             trap '' TERM; while :; do sleep 1; done",
            Exit::Signal(9),
        ),
        // In a session of its own, without a parent and without the environment that marks it.
        (
            "exec 9>../witness; (env -i setsid sh -c 'sleep 1000 & echo up' &); \
             while :; do sleep 1; done",
            Exit::Signal(15),
        ),
    ] {
        let place = Place::new(|sandbox| {
            let around = sandbox.temporary[0].parent().unwrap();
            sandbox.writable = vec![around.to_owned()];
        })
        .await;
        let witness = place.scratch.witness();
        let card = Card::new();
        let line = Line::new(script, &place.root);
        let cancelling = async {
            card.saw("up").await;
            card.cancel();
        };
        let (ran, ()) = tokio::join!(place.processes.run(&line, &card), cancelling);
        assert_eq!(ran.unwrap().exit, exit, "{script}");
        witness.gone().await;
    }
}

#[tokio::test]
async fn h14_a_sandbox_that_does_not_work_is_told() {
    let scratch = Scratch::new();
    for helper in [
        None,
        Some("/does/not/exist"),
        Some("/bin/true"),
        Some("/bin/cat"),
    ] {
        let mut sandbox = Sandbox::default();
        sandbox.helper = helper.map(PathBuf::from);
        let processes = Processes::new(sandbox, scratch.0.join("logs"));
        assert_eq!(processes.sandbox_notice(), None, "nothing was tried yet");
        let line = Line::new("echo ran", &scratch.0);
        let ran = processes.run(&line, &Card::new()).await.unwrap();
        assert_eq!((ran.output.as_str(), ran.exit), ("ran\n", Exit::Code(0)));
        let notice = processes.sandbox_notice().unwrap();
        assert!(
            notice.starts_with("Commands run without a sandbox: "),
            "{notice}"
        );
        processes.confine(Confinement::ReadOnly);
        assert!(processes.run(&line, &Card::new()).await.is_err());
    }
    let place = Place::new(|_| {}).await;
    assert!(place.processes.support().await.works());
}
