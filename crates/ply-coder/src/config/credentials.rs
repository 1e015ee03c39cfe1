//! Where programs of a user keep their credentials. Commands in the sandbox see nothing there.

use std::path::{Path, PathBuf};

/// Files and directories in the home of a user.
#[rustfmt::skip]
const AT_HOME: &[&str] = &[
    // Keys and passwords.
    ".ssh", ".gnupg", ".password-store", ".pki", ".local/share/keyrings", ".local/share/kwalletd", ".netrc",
    "_netrc", ".git-credentials", ".config/git/credentials", ".authinfo", ".authinfo.gpg", ".vault-token",
    ".1password", ".config/1Password", ".config/op", ".bitwarden-ssh-agent.sock", ".config/Bitwarden",
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".config/sops", ".age", ".config/age",
    // Clouds, clusters and services.
    ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers/auth.json", ".oci", ".boto",
    ".s3cfg", ".config/rclone", ".config/doctl", ".config/hcloud", ".fly", ".config/netlify", ".config/.wrangler",
    ".wrangler", ".terraform.d/credentials.tfrc.json", ".pulumi/credentials.json", ".databrickscfg",
    ".snowflake", ".config/snowflake", ".config/heroku", ".railway", ".supabase", ".config/configstore",
    ".local/share/com.vercel.cli", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea",
    ".config/ngrok", ".ngrok2", ".sentryclirc", ".kaggle", ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens", ".huggingface",
    // Registries of packages.
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".pypirc", ".config/pypoetry/auth.toml",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
    ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".composer/auth.json",
    ".config/composer/auth.json", ".hex", ".sbt/.credentials", ".ivy2/.credentials",
    // Browsers, mail and chat.
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".config/vivaldi", ".config/Slack", ".config/Signal", ".config/discord",
    ".config/neomutt", ".mutt", ".muttrc",
    // Other agents, and editors that keep the keys of models.
    ".claude", ".claude.json", ".config/claude", ".codex", ".config/codex", ".gemini", ".config/gemini",
    ".qwen", ".kimi", ".vibe", ".config/goose", ".local/share/goose", ".config/opencode", ".local/share/opencode",
    ".config/crush", ".local/share/crush", ".aider.conf.yml", ".continue", ".cursor", ".config/Cursor",
    ".config/github-copilot", ".copilot", ".config/amp", ".local/share/amp", ".amp", ".factory", ".openhands",
    ".hermes", ".pi/agent", ".cline", ".roo", ".codeium", ".windsurf", ".config/Windsurf",
    ".config/Code/User/globalStorage", ".config/io.datasette.llm", ".config/zed/settings.json",
    ".ollama/id_ed25519",
    // Histories, which have what was typed by mistake.
    ".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".psql_history",
    ".mysql_history", ".node_repl_history",
    // Servers that run what they are told.
    ".emacs.d/server", ".config/emacs/server",
];

/// Files of the system that only root may read, for commands of root.
const OF_SYSTEM: [&str; 4] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
];

/// Variables that name a file or a directory with credentials.
const NAMED: [&str; 14] = [
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLAUDE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "CODEX_HOME",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GNUPGHOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "SSH_AUTH_SOCK",
];

/// Ends of names of keys that lie in a home, not in a directory of their own.
const KEY_ENDS: [&str; 7] = [".pem", ".key", ".p12", ".pfx", ".ppk", ".kdbx", ".ovpn"];

/// Returns where the user's programs keep their credentials, by the variables of an environment: what commands in
/// the sandbox are not to read.
pub fn places(env: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let home = env("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute() && home != Path::new("/"));
    let mut places: Vec<PathBuf> = OF_SYSTEM.map(PathBuf::from).into();
    if let Some(home) = &home {
        places.extend(AT_HOME.iter().map(|name| home.join(name)));
    }
    for variable in NAMED {
        let values = env(variable).unwrap_or_default();
        // One of them is a list.
        let paths = values.split(':').map(PathBuf::from);
        places.extend(paths.filter(|path| path.is_absolute() && path.parent().is_some()));
    }
    // Those with a directory for configuration elsewhere.
    let config = env("XDG_CONFIG_HOME").map(PathBuf::from);
    let data = env("XDG_DATA_HOME").map(PathBuf::from);
    for (base, usual) in [(config, ".config/"), (data, ".local/share/")] {
        let base = base.filter(|base| base.is_absolute());
        let names = AT_HOME.iter().filter_map(|name| name.strip_prefix(usual));
        let moved = base
            .iter()
            .flat_map(|base| names.clone().map(|name| base.join(name)));
        places.extend(moved);
    }
    places
}

/// Returns whether a file that lies in a home is a key by its name.
pub(crate) fn is_key_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    KEY_ENDS.iter().any(|end| name.ends_with(end))
        || name.starts_with("id_rsa")
        || name.starts_with("id_ed25519")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_place() {
        let places = places(&|name| match name {
            "HOME" => Some("/home/me".to_owned()),
            "KUBECONFIG" => Some("/srv/a:/srv/b:relative:/".to_owned()),
            "XDG_CONFIG_HOME" => Some("/config".to_owned()),
            _ => None,
        });
        for place in [
            "/home/me/.ssh",
            "/home/me/.codex",
            "/srv/a",
            "/srv/b",
            "/config/gh",
            "/etc/shadow",
        ] {
            assert!(places.contains(&PathBuf::from(place)), "{place}");
        }
        assert!(!places.contains(&PathBuf::from("/")));
        assert!(places.iter().all(|place| place.is_absolute()));
        assert!(is_key_name("Server.PEM") && is_key_name("id_rsa.bak") && !is_key_name("keys.rs"));
    }
}
