//! Where a path is: inside the roots or not, and whether the place is guarded.

use std::path::{Path, PathBuf};

use super::glob::{name_matches, names};
use super::own::Own;

/// Where a path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Whether it is inside a root.
    pub(super) inside: bool,
    /// Whether a root is it, or is inside it.
    pub(super) holds_root: bool,
    /// Everything about it that is guarded.
    pub(super) guards: Vec<Guard>,
}

/// Something that makes a place guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) kind: GuardKind,
    /// The part of the path that a rule must name.
    pub(super) name: String,
}

/// Why a place is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardKind {
    /// Keys, passwords, tokens.
    Secret,
    /// The agent's own settings.
    Own,
    /// The inside of a repository: hooks and settings in it are run.
    Repository,
    /// Settings by which shells, editors, other agents, build tools or build servers run code.
    Code,
}

impl GuardKind {
    /// Says whether looking at it is guarded as well.
    pub(super) fn hides(self) -> bool {
        matches!(self, Self::Secret | Self::Own)
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Secret => "It looks like a secret.",
            Self::Own => "It belongs to the agent's own settings.",
            Self::Repository => "It is inside the repository's own data.",
            Self::Code => "Other programs take commands to run from it.",
        }
    }
}

/// Folders with secrets, whatever is in them.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".gcloud",
    "gcloud",
    ".password-store",
    ".vault",
];

/// Names of files with secrets.
#[rustfmt::skip]
const SECRET_FILES: &[&str] = &[
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass",
    ".my.cnf", ".htpasswd", ".git-credentials", ".vault-token", ".dockercfg", ".dockerconfigjson", ".terraformrc",
    "*.tfstate", "*.tfvars", "credentials", "credentials.json", "credentials.toml", "credentials.yml",
    "credentials.yaml", "credentials.ini", "credentials.csv", "credentials.xml", "secrets", "secrets.json",
    "secrets.toml", "secrets.yml", "secrets.yaml", "service-account*.json", ".bash_history", ".zsh_history",
    ".sh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".s3cfg", ".boto",
];

/// Names that look like secrets, and are made to be shown.
const EXAMPLES: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
];

const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn", ".bzr", ".sl"];

/// Folders and files by which other programs run code, as parts of a path.
#[rustfmt::skip]
const CODE: &[&[&str]] = &[
    // Shells.
    &[".bashrc"], &[".bash_profile"], &[".bash_login"], &[".bash_logout"], &[".bash_aliases"], &[".profile"],
    &[".zshrc"], &[".zshenv"], &[".zprofile"], &[".zlogin"], &[".zlogout"], &[".kshrc"], &[".cshrc"], &[".tcshrc"],
    &[".login"], &[".inputrc"], &[".xprofile"], &[".xinitrc"], &[".xsession"], &["fish", "*.fish"], &[".envrc"],
    &[".direnv"], &[".mise.toml"], &["mise.toml"], &[".mise"], &[".tmux.conf"], &[".screenrc"],
    // Editors.
    &[".vscode"], &[".idea"], &[".zed"], &[".fleet"], &[".helix"], &[".nvim.lua"], &[".nvimrc"], &[".exrc"],
    &[".vimrc"], &[".lvimrc"], &[".vim"], &[".dir-locals.el"], &[".emacs"], &[".emacs.d"], &["*.code-workspace"],
    &[".devcontainer"], &[".devcontainer.json"], &[".sublime-project"],
    // Agents.
    &[".claude"], &[".codex"], &[".cursor"], &[".cursorrules"], &[".gemini"], &[".qwen"], &[".continue"],
    &[".aider.conf.yml"], &[".windsurf"], &[".goose"], &[".mcp.json"], &[".roo"], &[".kiro"], &[".opencode"],
    &["agents.md"], &["claude.md"], &["gemini.md"],
    // Repositories and what they run on a commit.
    &[".gitconfig"], &[".gitmodules"], &[".githooks"], &[".husky"], &[".pre-commit-config.yaml"],
    &["lefthook.yml"], &["lefthook.yaml"], &[".lefthook.yml"], &[".hgrc"],
    // Build tools.
    &[".cargo"], &[".mvn"], &[".yarnrc"], &[".yarnrc.yml"], &[".yarn"], &[".pnpmfile.cjs"], &[".bazelrc"],
    &[".gdbinit"], &[".lldbinit"], &[".pdbrc"], &[".pythonrc"], &[".pythonstartup"], &[".irbrc"], &[".rspec"],
    // Build servers.
    &[".github", "workflows"], &[".github", "actions"], &[".gitea"], &[".forgejo"], &[".gitlab-ci.yml"],
    &[".gitlab"], &[".circleci"], &["jenkinsfile"], &["azure-pipelines.yml"], &[".travis.yml"], &[".drone.yml"],
    &["bitbucket-pipelines.yml"], &[".woodpecker"], &[".woodpecker.yml"], &[".buildkite"], &[".teamcity"],
];

/// Says whether a path looks like one of a secret. Tools that look through many files leave these out.
pub fn is_secret(path: &Path) -> bool {
    secret_name(&names(path)).is_some()
}

impl Place {
    /// Finds out where a path is.
    pub(super) fn of(path: &Path, roots: &[PathBuf], own: &[Own]) -> Self {
        let relative: Vec<&Path> = roots
            .iter()
            .filter_map(|root| path.strip_prefix(root).ok())
            .collect();
        let inside = !relative.is_empty();
        // A root is the user's choice; only what is below it is looked at.
        let views = if inside { relative } else { vec![path] };
        let mut guards: Vec<Guard> = Vec::new();
        for view in views {
            for guard in guards_of(&names(view)) {
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
            }
        }
        let own = own.iter().filter_map(|own| own.name_in(path, roots));
        guards.extend(own.map(|name| Guard {
            kind: GuardKind::Own,
            name,
        }));
        Self {
            inside,
            holds_root: roots.iter().any(|root| root.starts_with(path)),
            guards,
        }
    }

    /// Says whether looking at it is guarded.
    pub(super) fn hides(&self) -> bool {
        self.guards.iter().any(|guard| guard.kind.hides())
    }
}

fn guards_of(parts: &[String]) -> Vec<Guard> {
    let guard = |kind, name: &str| Guard {
        kind,
        name: name.to_owned(),
    };
    let mut guards = Vec::new();
    if let Some(name) = secret_name(parts) {
        guards.push(guard(GuardKind::Secret, name));
    }
    let low: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    for (place, (name, low_name)) in parts.iter().zip(&low).enumerate() {
        if low_name == ".ply" {
            guards.push(guard(GuardKind::Own, name));
        } else if REPOSITORIES.contains(&low_name.as_str()) {
            guards.push(guard(GuardKind::Repository, name));
        }
        let from_here = low.get(place..).unwrap_or_default();
        if CODE.iter().any(|pattern| begins_with(from_here, pattern)) {
            guards.push(guard(GuardKind::Code, name));
        }
    }
    guards
}

/// Says whether names in small letters lead into a place of such names, or end on the way to it: a
/// folder that is moved to `.github` brings its workflows with it.
fn begins_with(parts: &[String], pattern: &[&str]) -> bool {
    parts
        .iter()
        .zip(pattern)
        .all(|(part, wanted)| name_matches(wanted, part))
}

/// Returns the part of a path that makes it look like a secret.
fn secret_name(parts: &[String]) -> Option<&str> {
    let folder = parts
        .iter()
        .find(|name| SECRET_FOLDERS.contains(&name.to_lowercase().as_str()));
    let file = parts.last().filter(|name| {
        let low = name.to_lowercase();
        !EXAMPLES.contains(&low.as_str())
            && SECRET_FILES
                .iter()
                .any(|pattern| name_matches(pattern, &low))
    });
    folder.or(file).map(String::as_str)
}
