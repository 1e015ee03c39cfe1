use std::os::unix::fs::PermissionsExt as _;

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A directory of one test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-recent-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn session(agent: &str, id: &str, cwd: &str) -> RecentSession {
    RecentSession {
        agent: agent.to_owned(),
        id: id.to_owned(),
        cwd: cwd.into(),
        title: None,
        updated_at: "2026-11-17T08:00:00Z".to_owned(),
    }
}

impl Recent {
    async fn add(&self, noted: RecentSession, prompt: &'static str) {
        let noted = self.change(move |sessions| add(sessions, noted, Some(prompt)));
        noted.await.unwrap();
    }
}

fn ids(sessions: &[RecentSession]) -> String {
    let ids: Vec<_> = sessions.iter().map(|it| it.id.as_str()).collect();
    ids.join(" ")
}

#[tokio::test]
async fn the_latest_comes_first_and_is_there_once() {
    let scratch = Scratch::new();
    let recent = Recent::at(scratch.path("data/recent.json"));
    assert!(recent.list().await.is_empty());
    recent
        .add(session("a", "s-1", "/w"), "\n  First\nmore")
        .await;
    recent.add(session("a", "s-12", "/w"), "Second").await;
    recent.add(session("b", "s-1", "/w"), "Third").await;
    recent.add(session("a", "s-3", "/else"), "Fourth").await;
    recent
        .add(session("a", "s-1", "/w"), "A later prompt")
        .await;
    let list = recent.list().await;
    assert_eq!(ids(&list), "s-1 s-3 s-1 s-12");
    assert_eq!(list[0].title.as_deref(), Some("First"));
    let latest = recent.latest("a", Path::new("/w")).await.unwrap();
    assert_eq!((latest.agent.as_str(), latest.id.as_str()), ("a", "s-1"));
    assert_eq!(recent.latest("c", Path::new("/w")).await, None);
    assert_eq!(ids(&recent.find("a", "s-1").await), "s-1");
    assert_eq!(ids(&recent.find("a", "s-").await), "s-1 s-3 s-12");
    recent.forget("a", "s-1").await.unwrap();
    assert_eq!(ids(&recent.list().await), "s-3 s-1 s-12");
    let mode = |name: &str| {
        let found = std::fs::metadata(scratch.path(name)).unwrap();
        found.permissions().mode() & 0o777
    };
    assert_eq!((mode("data"), mode("data/recent.json")), (0o700, 0o600));
}

#[tokio::test]
async fn the_list_is_bounded_and_so_is_every_title() {
    let scratch = Scratch::new();
    let recent = Recent::at(scratch.path("recent.json"));
    let many = (0..RECENT_SESSIONS_MAX + 10).map(|id| session("a", &id.to_string(), "/"));
    let many: Vec<_> = many.collect();
    let change = recent.change(move |sessions| {
        for one in many {
            add(sessions, one, Some(&"x".repeat(5000)));
        }
    });
    change.await.unwrap();
    let list = recent.list().await;
    assert_eq!(list.len(), RECENT_SESSIONS_MAX);
    assert_eq!(list[0].id, (RECENT_SESSIONS_MAX + 9).to_string());
    let title = list[0].title.as_ref().unwrap();
    assert_eq!(title.chars().count(), RECENT_TITLE_CHARS_MAX);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_write_at_the_same_time_lose_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path("recent.json");
    let writers = (0..20).map(|id| {
        // Each opens the files for itself, as processes do.
        let recent = Recent::at(&path);
        tokio::spawn(async move { recent.add(session("a", &id.to_string(), "/"), "x").await })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(Recent::at(&path).list().await.len(), 20);
}

#[tokio::test]
async fn a_damaged_file_is_as_good_as_none_and_a_newer_one_is_left_alone() {
    let scratch = Scratch::new();
    let path = scratch.path("recent.json");
    let recent = Recent::at(&path);
    for damaged in ["", "{", r#"{"version":1,"sessions":7}"#] {
        std::fs::write(&path, damaged).unwrap();
        assert!(recent.list().await.is_empty());
        recent.add(session("a", "s", "/"), "x").await;
        assert_eq!(ids(&recent.list().await), "s");
    }
    let newer = r#"{"version":2,"sessions":{}}"#;
    std::fs::write(&path, newer).unwrap();
    assert!(recent.list().await.is_empty());
    assert!(recent.forget("a", "s").await.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_somebody_keeps_is_not_waited_for_for_ever() {
    let scratch = Scratch::new();
    let recent = Recent::at(scratch.path("recent.json"));
    let held = file::lock(recent.path()).await.unwrap();
    let refused = recent.forget("a", "s").await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
    drop(held);
    recent.forget("a", "s").await.unwrap();
}
