use super::*;
use crate::config::Places;

fn write(place: &Path, name: &str, text: &str) -> PathBuf {
    let path = place.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn config() -> Config {
    Config::new(Vec::new(), Places::default())
}

fn text_of(cwd: &Path) -> Option<String> {
    read(cwd, &config()).text
}

#[test]
fn instructions_are_read_from_the_repository_down() {
    let place = tempfile::tempdir().unwrap();
    let inner = place.path().join("a/b");
    std::fs::create_dir(place.path().join(".git")).unwrap();
    write(place.path(), "AGENTS.md", "outer");
    write(&inner, "AGENTS.md", "inner");
    let project = read(&inner, &config());
    let text = project.text.unwrap();
    assert!(text.find("outer").unwrap() < text.find("inner").unwrap());
    assert_eq!(project.repository.as_deref(), Some(place.path()));
}

#[test]
fn outside_a_repository_nothing_above_is_read() {
    let place = tempfile::tempdir().unwrap();
    let inner = place.path().join("a");
    std::fs::create_dir(&inner).unwrap();
    write(place.path(), "AGENTS.md", "outer");
    assert_eq!(read(&inner, &config()), Project::default());
}

#[test]
fn what_nobody_sees_is_no_instruction() {
    let place = tempfile::tempdir().unwrap();
    let text = "Use\u{a0}tabs.\r\n\u{e0041}\u{e0042}\u{202e}\u{200b}";
    write(place.path(), "AGENTS.md", text);
    let text = text_of(place.path()).unwrap();
    assert!(text.ends_with("\nUse tabs.\n"), "{text:?}");
}

#[test]
fn a_link_out_of_the_project_is_no_instruction() {
    let place = tempfile::tempdir().unwrap();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, place.path().join(name)).unwrap();
    };
    link("/etc/hostname", "AGENTS.md");
    assert_eq!(text_of(place.path()), None);
    // Many have one file by two names.
    write(place.path(), "docs/agents.txt", "Use tabs.");
    link("docs/agents.txt", "CLAUDE.md");
    assert!(text_of(place.path()).unwrap().ends_with("\nUse tabs.\n"));
}

#[test]
fn files_that_are_named_are_read_once_and_in_the_project_only() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = write(elsewhere.path(), "x.md", "outside");
    let outside = outside.display();
    let text = format!(
        "See @docs/style.md, and @missing.md and @someone.\n@.env @{outside} @../x.md\n```\n@code.md\n```\na@code.md `@code.md`"
    );
    write(place.path(), "AGENTS.md", &text);
    write(
        place.path(),
        "docs/style.md",
        "Tabs. (@more.md)\n@../AGENTS.md @style.md @more.md",
    );
    write(place.path(), "docs/more.md", "More.");
    write(place.path(), "code.md", "code");
    write(place.path(), ".env", "PASSWORD=x");
    let text = text_of(place.path()).unwrap();
    for (part, count) in [
        ("\nTabs.", 1),
        ("\nMore.", 1),
        ("See @docs", 1),
        ("\ncode", 0),
        ("PASSWORD", 0),
        ("\noutside", 0),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part}: {text}");
    }
}

#[test]
fn a_long_way_and_a_long_text_have_an_end() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "AGENTS.md", "@1.md");
    for number in 1..10 {
        let text = format!("Step {number}. @{}.md", number + 1);
        write(place.path(), &format!("{number}.md"), &text);
    }
    let text = text_of(place.path()).unwrap();
    assert!(
        text.contains("Step 5.") && !text.contains("Step 6."),
        "{text}"
    );
    let many: String = (0..100).map(|number| format!("@big{number}.md ")).collect();
    write(place.path(), "AGENTS.md", &many);
    for number in 0..100 {
        write(
            place.path(),
            &format!("big{number}.md"),
            &"x".repeat(10_000),
        );
    }
    assert!(text_of(place.path()).unwrap().len() < ALL_BYTES_MAX + 5_000);
}

#[test]
fn the_user_has_a_file_beside_the_configuration() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config();
    config.instructions = Some("Answer in German.".to_owned());
    config.instructions_file = Some(place.path().join("AGENTS.md"));
    let user = |config: &Config| read(Path::new("/"), config).user;
    assert_eq!(user(&config).as_deref(), Some("Answer in German."));
    write(place.path(), "AGENTS.md", "Be brief.");
    let text = user(&config).unwrap();
    assert!(
        text.starts_with("Answer in German.\n") && text.ends_with("\nBe brief.\n"),
        "{text}"
    );
}

#[test]
fn a_directory_has_its_say_once() {
    let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (cwd, other) = (place.path(), other.path().to_path_buf());
    write(cwd, "AGENTS.md", "root");
    write(cwd, "a/AGENTS.md", "outer @rules.md");
    write(cwd, "a/rules.md", "rules");
    write(cwd, "a/b/CLAUDE.md", "inner");
    write(cwd, "node_modules/x/AGENTS.md", "foreign");
    write(&other, "AGENTS.md", "other");
    let mut nested = Nested::default();
    let additional = [other.clone()];
    let mut find = |path: PathBuf| {
        if !path.exists() {
            write(Path::new("/"), path.to_str().unwrap(), "x");
        }
        nested.find(cwd, &additional, &[path])
    };
    assert_eq!(find(cwd.join("x.rs")), None);
    let text = find(cwd.join("a/b/x.rs")).unwrap();
    let places = ["outer", "\nrules", "inner"].map(|part| text.find(part));
    assert!(
        places.is_sorted() && places[0].is_some() && !text.contains("root"),
        "{text}"
    );
    assert_eq!(find(cwd.join("a/b/y.rs")), None);
    assert_eq!(find(cwd.join("a/x.rs")), None);
    assert_eq!(find(cwd.join("node_modules/x/y.js")), None);
    assert!(find(other.join("z.rs")).unwrap().contains("other"));
    assert_eq!(find(PathBuf::from("/etc/hostname")), None);
    nested.forget();
    assert!(
        nested
            .find(cwd, &[], &[cwd.join("a/x.rs")])
            .unwrap()
            .contains("outer")
    );
    nested.forget();
    assert_eq!(nested.find(cwd, &[], &[cwd.join("a/AGENTS.md")]), None);
}
