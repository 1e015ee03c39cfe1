//! Places that are guarded.

use std::path::Path;

use ply_coder::permission::{Mode, Permissions, Stores, Verdict, is_secret};
use ply_coder::tool::Access;

use super::{A, D, Q, check};

#[test]
fn h11_guarded_places_inside_the_roots_are_asked_about_in_every_mode() {
    let places = [
        ".git",
        ".git/config",
        ".git/hooks/post-checkout",
        "a/b/.git/x",
        ".GIT/config",
        ".hg/hgrc",
        ".jj/x",
        ".gitconfig",
        ".gitmodules",
        ".husky/pre-commit",
        ".pre-commit-config.yaml",
        ".githooks/x",
        ".bashrc",
        ".zshrc",
        ".zshenv",
        ".profile",
        ".bash_profile",
        ".config/fish/config.fish",
        ".envrc",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".idea/workspace.xml",
        ".zed/tasks.json",
        ".devcontainer/devcontainer.json",
        ".nvim.lua",
        ".exrc",
        ".vimrc",
        ".dir-locals.el",
        "x.code-workspace",
        ".claude/settings.json",
        ".codex/config.toml",
        ".cursor/mcp.json",
        ".mcp.json",
        ".gemini/settings.json",
        ".ply/config.toml",
        ".ply/rules.toml",
        ".ply/commands/x.md",
        ".ply/skills/x/SKILL.md",
        ".agents/skills/x/SKILL.md",
        ".cargo/config.toml",
        ".mvn/jvm.config",
        ".npmrc",
        ".yarnrc.yml",
        ".gdbinit",
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/actions/x/action.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "Jenkinsfile",
        ".travis.yml",
        "bare/HEAD",
        "bare/commondir",
        "a/b/head",
        "build.rs",
        "crates/x/build.rs",
        "rust-toolchain.toml",
        ".tool-versions",
        "flake.nix",
        "eslint.config.mjs",
        ".eslintrc.js",
        ".pylintrc",
        ".lintstagedrc.json",
        "gradlew",
        "gradle/wrapper/gradle-wrapper.properties",
        "sitecustomize.py",
        "evil.pth",
        "netlify.toml",
        "mise.local.toml",
        ".mise.toml",
        ".mise/config.toml",
        ".config/mise/config.toml",
        "devenv.yaml",
        "default.nix",
        ".config/systemd/user/x.service",
        ".config/git/config",
        "lefthook-local.yml",
        ".lefthook/pre-commit/x",
        ".pre-commit-config.yml",
        "opencode.json",
        ".github/copilot-instructions.md",
        "AGENTS.override.md",
        ".pnp.cjs",
        "bunfig.toml",
        ".readthedocs.yaml",
        ".g\u{200d}it/config",
        "azure-pipelines.yml",
        ".env",
        ".env.local",
        ".env.production",
        "prod.env",
        "deploy/key.pem",
        "tls/server.key",
        "id_rsa",
        "id_ed25519",
        ".ssh/config",
        ".aws/credentials",
        ".netrc",
        "credentials",
        "credentials.json",
        "secrets.yml",
        ".pypirc",
        ".kube/config",
        ".gnupg/x",
        "terraform.tfstate",
        "prod.tfvars",
        ".git-credentials",
        ".pgpass",
        ".htpasswd",
    ];
    for place in places {
        for rules in [
            &[][..],
            &["write(**)", "delete(**)"],
            &["write(*)", "delete(*)"],
            &["write(/**)", "delete(/**)"],
        ] {
            check(rules, &format!("write /p/{place}"), [D, Q, Q, Q]);
            check(rules, &format!("delete /p/{place}"), [D, Q, Q, Q]);
        }
    }
}

#[test]
fn ordinary_places_are_not_guarded() {
    let places = [
        "src/credentials/mod.rs",
        "src/credentials.rs",
        "src/environment.rs",
        ".env.example",
        ".env.sample",
        "git/x",
        ".gitignore",
        ".gitattributes",
        ".github/CODEOWNERS",
        "src/key.rs",
        "docs/secrets.md",
        "workflows/a.yml",
        ".editorconfig",
        ".prettierrc",
        "Cargo.toml",
        "package.json",
        "src/.hidden",
        "keys.json",
        "src/build.rs",
        "src/objects/a.rs",
        "refs/a",
        "config",
        "Makefile",
        "src/head.rs",
        "build.gradle",
    ];
    for place in places {
        check(&[], &format!("write /p/{place}"), [D, Q, A, A]);
        check(&[], &format!("read /p/{place}"), [A, A, A, A]);
    }
}

#[test]
fn a_rule_that_names_a_guarded_place_allows_it() {
    check(&["write(.git/**)"], "write /p/.git/config", [D, A, A, A]);
    check(
        &["write(**/.git/**)"],
        "write /p/a/.git/config",
        [D, A, A, A],
    );
    check(&["write(.env)"], "write /p/.env", [D, A, A, A]);
    check(&["write(.env*)"], "write /p/.env.local", [D, A, A, A]);
    check(&["read(**/.env)"], "read /p/a/.env", [A, A, A, A]);
    check(&["read(**/*.pem)"], "read /p/a/b.pem", [A, A, A, A]);
    check(
        &["write(.github/workflows/*)"],
        "write /p/.github/workflows/ci.yml",
        [D, A, A, A],
    );
    check(
        &["write(/nowhere/ply/**)"],
        "write /nowhere/ply/rules.toml",
        [D, A, A, A],
    );
    // Every guarded part must be named.
    check(&["write(.git/**)"], "write /p/.git/.env", [D, Q, Q, Q]);
    check(&["write(.git/*)"], "write /p/.git/hooks/x", [D, Q, Q, Q]);
    check(&["write(.*)"], "write /p/.env", [D, Q, Q, Q]);
    check(&["write(?env)"], "write /p/.env", [D, A, A, A]);
    check(&["write(????)"], "write /p/.env", [D, Q, Q, Q]);
}

#[test]
fn secrets_are_known_by_their_names() {
    for path in [
        "/a/.env",
        "/a/ID_RSA",
        "/a/.ssh/known_hosts",
        "/a/x.pem",
        "/a/Credentials",
    ] {
        assert!(is_secret(Path::new(path)), "{path}");
    }
    for path in ["/a/.env.example", "/a/env.rs", "/a/ssh/x"] {
        assert!(!is_secret(Path::new(path)), "{path}");
    }
}

#[test]
fn h3_what_is_written_into_a_folder_like_a_repository_is_asked_about_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let permissions = Permissions::new(vec![root.clone()], Vec::new(), Stores::default());
    let reason = |path: &str| {
        let access = [Access::Write(root.join(path))];
        match permissions.decide(Mode::AutoEdit, &access) {
            Verdict::Ask(question) => Some(question.description),
            _ => None,
        }
    };
    assert_eq!(reason("x/config"), None);
    assert_eq!(reason("x/objects/a"), None);
    let head = reason("x/HEAD").unwrap();
    assert!(head.contains("for a repository"), "{head}");
    std::fs::create_dir_all(root.join("x/objects")).unwrap();
    std::fs::create_dir_all(root.join("x/refs")).unwrap();
    std::fs::write(root.join("x/HEAD"), "ref: refs/heads/x").unwrap();
    for path in ["x/config", "x/hooks/post-checkout", "x/info/attributes"] {
        assert!(reason(path).is_some(), "{path}");
    }
    for (path, words) in [
        (".git/hooks/x", "repository's own data"),
        (".envrc", "Shells run"),
        (".vscode/tasks.json", "Editors run"),
        ("CLAUDE.md", "Other agents"),
        (".husky/pre-commit", "committed"),
        ("build.rs", "Build tools run"),
        (".github/workflows/ci.yml", "Build servers"),
        ("server.key", "secret"),
    ] {
        let said = reason(path).unwrap_or_default();
        assert!(said.contains(words), "{path}: {said}");
    }
}
