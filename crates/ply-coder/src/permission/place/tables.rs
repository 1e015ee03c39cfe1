//! Names of files and folders that are guarded, in small letters.

use super::GuardKind;

/// Folders with secrets, whatever is in them.
#[rustfmt::skip]
pub(super) const SECRET_FOLDERS: &[&str] = &[
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud", "gcloud", ".password-store", ".vault",
];

/// Names of files with secrets.
#[rustfmt::skip]
pub(super) const SECRET_FILES: &[&str] = &[
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass",
    ".my.cnf", ".htpasswd", ".git-credentials", ".vault-token", ".dockercfg", ".dockerconfigjson", ".terraformrc",
    "*.tfstate", "*.tfstate.backup", "*.tfvars", "credentials", "credentials.json", "credentials.toml", "credentials.yml",
    "credentials.yaml", "credentials.ini", "credentials.csv", "credentials.xml", "secrets", "secrets.json",
    "secrets.toml", "secrets.yml", "secrets.yaml", "service-account*.json", ".bash_history", ".zsh_history",
    ".sh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".s3cfg", ".boto",
];

/// Names that look like secrets, and are made to be shown.
pub(super) const EXAMPLES: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
];

pub(super) const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn", ".bzr", ".sl"];

/// Files that make a folder a repository for git, if it has the rest.
pub(super) const LAYOUT: &[&str] = &["head", "commondir"];

/// Folders and files by which other programs run code, as parts of a path; a star stands at the beginning
/// of a name or at its end.
#[rustfmt::skip]
pub(super) const CODE: &[(GuardKind, &[&[&str]])] = &[
    (GuardKind::Shell, &[
        &[".bashrc"], &[".bash_profile"], &[".bash_login"], &[".bash_logout"], &[".bash_aliases"], &[".profile"],
        &[".zshrc"], &[".zshenv"], &[".zprofile"], &[".zlogin"], &[".zlogout"], &[".kshrc"], &[".cshrc"], &[".tcshrc"],
        &[".login"], &[".inputrc"], &[".xprofile"], &[".xinitrc"], &[".xsession"], &["fish", "*.fish"], &[".envrc"],
        &[".direnv"], &["mise.toml"], &["mise.local.toml"], &[".mise*"], &["mise", "config*"], &[".config", "mise*"], &[".tool-versions"],
        &["flake.nix"], &["shell.nix"], &["default.nix"], &["devenv.nix"], &["devenv.yaml"], &["devenv.local.nix"], &["devbox.json"], &[".config", "autostart"],
        &[".config", "systemd"], &["launchagents"], &[".tmux.conf"], &[".screenrc"],
    ]),
    (GuardKind::Editor, &[
        &[".vscode"], &[".idea"], &[".zed"], &[".fleet"], &[".helix"], &[".nvim.lua"], &[".nvimrc"], &[".exrc"],
        &[".vimrc"], &[".lvimrc"], &[".vim"], &[".dir-locals.el"], &[".emacs"], &[".emacs.d"], &["*.code-workspace"],
        &[".devcontainer"], &[".devcontainer.json"], &[".sublime-project"], &["*.sublime-project"], &[".gitpod.yml"],
        &[".replit"], &[".codesandbox"], &[".ycm_extra_conf.py"], &[".luarc.json"], &[".solargraph.yml"],
        &["eslint.config.*"], &[".eslintrc"], &[".eslintrc.*"], &["prettier.config.*"], &[".prettierrc.js"],
        &[".prettierrc.cjs"], &[".prettierrc.mjs"], &["stylelint.config.*"], &[".stylelintrc.*"], &[".pylintrc"],
        &["pylintrc"], &[".rubocop.yml"], &[".lazy.lua"], &[".config", "nvim"], &[".config", "helix"], &[".externaltoolbuilders"],
    ]),
    (GuardKind::Agent, &[
        &[".claude"], &[".codex"], &[".cursor"], &[".cursorrules"], &[".gemini"], &[".qwen"], &[".continue"],
        &[".windsurf"], &[".goose"], &[".mcp.json"], &[".roo"], &[".kiro"], &[".opencode"],
        &[".agents"], &[".ply", "skills"], &["agents.md"], &["claude.md"], &["gemini.md"], &["qwen.md"],
        &["agents.override.md"], &["claude.local.md"], &["opencode.json*"], &["crush.json"], &[".crush*"], &[".cline*"],
        &[".rules"], &[".windsurfrules"], &[".goosehints"], &[".junie"], &[".kilocode*"], &[".trae"], &[".augment*"],
        &[".amazonq"], &[".vibe"], &[".kimi"], &[".factory"], &[".openhands"], &[".aider*"],
        &[".github", "copilot-instructions.md"], &[".github", "instructions"], &[".github", "prompts"],
        &[".github", "chatmodes"], &[".github", "agents"],
    ]),
    (GuardKind::Hook, &[
        &[".gitconfig"], &[".config", "git"], &[".gitmodules"], &[".githooks"], &[".husky"], &[".huskyrc*"],
        &[".pre-commit-*"], &["prek.toml"], &["lefthook*"], &[".lefthook*"], &[".config", "lefthook*"],
        &[".overcommit.yml"], &[".simple-git-hooks*"], &["simple-git-hooks*"],
        &[".lintstagedrc*"], &["lint-staged.config.*"], &["commitlint.config.*"], &[".hgrc"],
    ]),
    (GuardKind::Build, &[
        &[".cargo"], &[".mvn"], &[".yarnrc"], &[".yarnrc.yml"], &[".yarn"], &[".pnpmfile.cjs"], &[".bazelrc"],
        &[".bazelversion"], &["rust-toolchain"], &["rust-toolchain.toml"], &["gradlew"], &["mvnw"], &["gradle", "wrapper"],
        &["directory.build.props"], &["directory.build.targets"], &[".pnp.*"], &["bunfig.toml"], &["sitecustomize.py"], &["usercustomize.py"], &["*.pth"],
        &[".gdbinit"], &[".lldbinit"], &[".pdbrc"], &[".pythonrc"], &[".pythonstartup"], &[".irbrc"], &[".rspec"],
    ]),
    (GuardKind::Server, &[
        &[".github", "workflows"], &[".github", "actions"], &[".gitea"], &[".forgejo"], &[".gitlab-ci.yml"],
        &[".gitlab-ci.yaml"], &[".gitlab"], &[".circleci"], &["jenkinsfile"], &["azure-pipelines.yml"],
        &["azure-pipelines.yaml"], &[".travis.yml"], &[".drone.yml"], &["bitbucket-pipelines.yml"], &[".woodpecker"],
        &[".woodpecker.yml"], &[".buildkite"], &[".teamcity"], &[".semaphore"], &["appveyor.yml"], &[".appveyor.yml"],
        &[".cirrus.yml"], &["buildspec.yml"], &["cloudbuild.yaml"], &["codemagic.yaml"], &["bitrise.yml"], &[".build.yml"],
        &[".builds"], &["netlify.toml"],
        &[".readthedocs.y*"], &[".woodpecker.yaml"], &[".drone.yaml"], &[".drone.jsonnet"], &[".tekton"], &[".zuul*"],
    ]),
];
