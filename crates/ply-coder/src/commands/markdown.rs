//! Commands that are Markdown files: prompts that the user or the project wrote down.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::context::files::{Files, Levels};
use crate::context::front_matter::Document;
use crate::text::first_line;

/// Where a project keeps them, the first wins.
const PROJECT_DIRECTORIES: [&str; 2] = [".ply/commands", ".claude/commands"];
/// How many commands are offered.
const COMMANDS_MAX: usize = 200;
/// Bytes of a file that are read.
const FILE_BYTES_MAX: usize = 32 * 1024;
/// How deep directories may lie in each other.
const DEPTH_MAX: usize = 3;
/// Characters of a command's name.
const NAME_CHARS_MAX: usize = 100;
/// Characters of its description, and of the hint for what may follow it.
const DESCRIPTION_CHARS_MAX: usize = 200;

/// A command that is a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarkdownCommand {
    /// What the user types behind the slash; `dir:name` for a file in a directory.
    pub(crate) name: String,
    pub(crate) description: String,
    /// What may follow the name.
    pub(crate) hint: Option<String>,
    /// Where the file is.
    pub(crate) path: PathBuf,
    /// What the model is told, with places for arguments.
    pub(crate) body: String,
}

/// Returns the commands of a project and a user, each name once: those next to the working directory come first,
/// those of the user last.
pub(crate) fn find(levels: &Levels, user: &[PathBuf]) -> Vec<MarkdownCommand> {
    let mut found = Found::default();
    if let Some(root) = levels.root() {
        let files = Files::of_project(root);
        for level in &levels.directories {
            for directory in PROJECT_DIRECTORIES {
                found.look(&files, &level.join(directory), "", DEPTH_MAX);
            }
        }
    }
    for directory in user {
        found.look(&Files::User, directory, "", DEPTH_MAX);
    }
    found.commands
}

#[derive(Default)]
struct Found {
    commands: Vec<MarkdownCommand>,
    /// The directories that were looked at, without links: one may lead to another, or to itself.
    seen: BTreeSet<PathBuf>,
}

impl Found {
    /// Adds what is in a directory, whose commands begin with a prefix.
    fn look(&mut self, files: &Files, directory: &Path, prefix: &str, depth: usize) {
        let Some(real) = files.real(directory) else {
            return;
        };
        if !self.seen.insert(real) {
            return;
        }
        for file in files.names(directory) {
            if self.commands.len() >= COMMANDS_MAX {
                return;
            }
            let path = directory.join(&file);
            let stem = file.strip_suffix(".md");
            let name = format!("{prefix}{}", stem.unwrap_or(&file));
            if !is_name(&name) {
                continue;
            }
            if stem.is_some() {
                if !self.commands.iter().any(|known| known.name == name) {
                    self.commands.extend(read(files, &path, name));
                }
            } else if depth > 0 {
                self.look(files, &path, &format!("{name}:"), depth - 1);
            }
        }
    }
}

fn read(files: &Files, path: &Path, name: String) -> Option<MarkdownCommand> {
    let (real, text) = files.read(path, FILE_BYTES_MAX)?;
    let document = Document::parse(&text);
    let body = document.body.trim();
    if body.is_empty() {
        return None;
    }
    let description = document.get("description").unwrap_or(body);
    let hint = document.get("argument-hint");
    Some(MarkdownCommand {
        name,
        description: first_line(description, DESCRIPTION_CHARS_MAX),
        hint: hint.map(|hint| first_line(hint, DESCRIPTION_CHARS_MAX)),
        path: real,
        body: body.to_owned(),
    })
}

/// Says whether a name can be typed as one word. Hidden files are none.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !name.starts_with('.') && name.chars().count() <= NAME_CHARS_MAX && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, name: &str, text: &str) {
        let path = place.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn names(found: &[MarkdownCommand]) -> Vec<&str> {
        found.iter().map(|command| command.name.as_str()).collect()
    }

    #[test]
    fn the_project_comes_before_the_user_and_the_inner_directory_before_the_outer() {
        let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let inner = project.path().join("inner");
        write(project.path(), ".git/HEAD", "");
        write(project.path(), ".claude/commands/fix.md", "outer");
        write(project.path(), ".claude/commands/git/commit.md", "commit");
        write(
            &inner,
            ".ply/commands/fix.md",
            "---\ndescription: Fixes\nargument-hint: <file>\n---\ninner $1",
        );
        write(user.path(), "fix.md", "user");
        write(user.path(), "note.md", "Notes it\nin a file");
        for skipped in ["not a name.md", ".hidden.md", "empty.md", "text.txt"] {
            write(user.path(), skipped, "");
        }
        let found = find(&Levels::find(&inner), &[user.path().to_path_buf()]);
        assert_eq!(names(&found), ["fix", "git:commit", "note"]);
        let fix = found.first().unwrap();
        assert_eq!(
            (fix.description.as_str(), fix.body.as_str()),
            ("Fixes", "inner $1")
        );
        assert_eq!(fix.hint.as_deref(), Some("<file>"));
        assert_eq!(found.last().unwrap().description, "Notes it");
    }

    #[test]
    fn a_link_out_of_the_project_is_no_command() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(elsewhere.path(), "x.md", "x");
        std::fs::create_dir_all(project.path().join(".ply")).unwrap();
        let commands = project.path().join(".ply/commands");
        std::os::unix::fs::symlink(elsewhere.path(), &commands).unwrap();
        assert!(find(&Levels::find(project.path()), &[]).is_empty());
        assert_eq!(
            names(&find(&Levels::find(project.path()), &[commands])),
            ["x"]
        );
    }

    #[test]
    fn there_is_an_end_to_commands() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..COMMANDS_MAX + 5 {
            write(place.path(), &format!("{number}.md"), "x");
        }
        let found = find(&Levels::find(Path::new("/")), &[place.path().to_path_buf()]);
        assert_eq!(found.len(), COMMANDS_MAX);
    }

    #[test]
    fn a_directory_that_links_to_itself_is_looked_at_once() {
        let project = tempfile::tempdir().unwrap();
        let ours = project.path().join(".ply/commands");
        write(&ours, "fix.md", "Fix it.");
        std::os::unix::fs::symlink(".", ours.join("again")).unwrap();
        let found = find(&Levels::find(project.path()), &[]);
        assert_eq!(names(&found), ["fix"]);
    }
}
