//! Skills: directories with instructions for one kind of task, which a model reads when it has such a task.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::commands::markdown::is_name;
use crate::context::files::{Files, Levels};
use crate::context::front_matter::Document;
use crate::permission::text::shown;
use crate::text::{first_line, short};

/// Where a project keeps them, the first wins.
const PROJECT_DIRECTORIES: [&str; 3] = [".ply/skills", ".agents/skills", ".claude/skills"];
/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// How many skills are offered.
const SKILLS_MAX: usize = 100;
/// Bytes of a file that are read.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// Characters of a description that a model is told.
const DESCRIPTION_CHARS_MAX: usize = 500;
/// Characters of a description in the list of commands.
const COMMAND_CHARS_MAX: usize = 200;
/// Bytes of all names and descriptions that a model is told.
const LIST_BYTES_MAX: usize = 16 * 1024;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    /// When to use it.
    pub(crate) description: String,
    /// What may follow it as a command.
    pub(crate) hint: Option<String>,
    /// Where its files are.
    pub(crate) directory: PathBuf,
    /// The file with the instructions.
    pub(crate) path: PathBuf,
    /// The instructions.
    pub(crate) body: String,
    /// Whether only the user calls it.
    is_for_user: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Skills {
    pub(crate) all: Vec<Skill>,
    /// Directories that may be read for them, absolute and without links.
    pub(crate) directories: Vec<PathBuf>,
}

impl Skills {
    /// Finds the skills of a project and a user, each name once: those next to the working directory come first,
    /// those of the user last.
    pub(crate) fn find(levels: &Levels, user: &[PathBuf]) -> Self {
        let mut found = Self::default();
        if let Some(root) = levels.root() {
            let files = Files::of_project(root);
            for level in &levels.directories {
                for directory in PROJECT_DIRECTORIES {
                    found.look(&files, &level.join(directory));
                }
            }
        }
        for directory in user {
            found.look(&Files::User, directory);
        }
        found
    }

    /// Adds what is in a directory.
    fn look(&mut self, files: &Files, directory: &Path) {
        let names = files.names(directory);
        if names.is_empty() {
            return;
        }
        self.directories.extend(files.real(directory));
        for name in names {
            if self.all.len() >= SKILLS_MAX {
                return;
            }
            let Some(skill) = read(files, &directory.join(&name), &name) else {
                continue;
            };
            if self.all.iter().any(|known| known.name == skill.name) {
                continue;
            }
            // The user may keep one elsewhere and link to it.
            let is_known = |known: &PathBuf| skill.directory.starts_with(known);
            if matches!(files, Files::User) && !self.directories.iter().any(is_known) {
                self.directories.push(skill.directory.clone());
            }
            self.all.push(skill);
        }
    }

    /// Returns the skill of a name that a model may use.
    pub(crate) fn for_model(&self, name: &str) -> Option<&Skill> {
        self.models().find(|skill| skill.name == name)
    }

    /// Returns those that a model may use.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Skill> {
        self.all.iter().filter(|skill| !skill.is_for_user)
    }

    /// Returns names and descriptions for a model; none if there are no skills.
    pub(crate) fn list(&self) -> Option<String> {
        let mut list = String::new();
        let mut left_out = 0;
        for skill in self.models() {
            let description = short(&shown(&skill.description), DESCRIPTION_CHARS_MAX);
            let line = format!("- {}: {description}\n", skill.name);
            match list.len() + line.len() > LIST_BYTES_MAX {
                true => left_out += 1,
                false => list.push_str(&line),
            }
        }
        if left_out > 0 {
            writeln!(list, "- and {left_out} more that are too many to be listed")
                .expect("a string takes everything");
        }
        (!list.is_empty()).then_some(list)
    }
}

impl Skill {
    /// Returns its instructions, with the place of its files, which they refer to.
    pub(crate) fn text(&self, body: &str) -> String {
        format!(
            "Instructions of the skill `{}`. Its files are in {}, and paths in it are relative to there.\n\n{body}",
            self.name,
            shown(&self.directory.to_string_lossy())
        )
    }

    /// Returns its description as a command.
    pub(crate) fn command_description(&self) -> String {
        first_line(&self.description, COMMAND_CHARS_MAX)
    }
}

fn read(files: &Files, directory: &Path, name: &str) -> Option<Skill> {
    let (path, text) = files.read(&directory.join(FILE), FILE_BYTES_MAX)?;
    let document = Document::parse(&text);
    let body = document.body.trim();
    let given = document.get("name").filter(|name| is_name(name));
    let name = given.or(Some(name).filter(|name| is_name(name)))?;
    let description = document.get("description");
    let description =
        description.map_or_else(|| first_line(body, DESCRIPTION_CHARS_MAX), str::to_owned);
    if body.is_empty() || description.is_empty() {
        return None;
    }
    let mut body = body.to_owned();
    if text.len() >= FILE_BYTES_MAX {
        let path = shown(&path.to_string_lossy());
        write!(body, "\n[The file goes on. Read {path} for the rest.]").ok()?;
    }
    let hint = document.get("argument-hint");
    Some(Skill {
        name: name.to_owned(),
        description,
        hint: hint.map(|hint| first_line(hint, COMMAND_CHARS_MAX)),
        directory: path.parent()?.to_path_buf(),
        path,
        body,
        is_for_user: document.get("disable-model-invocation") == Some("true"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, name: &str, text: &str) {
        let path = place.join(name).join(FILE);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn skills_are_found_and_told_by_their_front_matter() {
        let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ours = project.path().join(".claude/skills");
        write(
            &ours,
            "one",
            "---\nname: pdf\ndescription: Reads PDFs\n---\nUse it.",
        );
        write(&ours, "two", "Without front matter.\nMore.");
        write(
            &ours,
            "three",
            "---\ndescription: x\ndisable-model-invocation: true\n---\nAsk.",
        );
        write(&ours, "empty", "---\ndescription: x\n---\n");
        write(user.path(), "pdf", "---\ndescription: the user's\n---\nx");
        std::fs::write(user.path().join("file.md"), "x").unwrap();
        let skills = Skills::find(&Levels::find(project.path()), &[user.path().to_path_buf()]);
        let names: Vec<_> = skills.all.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["pdf", "three", "two"]);
        let list = skills.list().unwrap();
        assert_eq!(list, "- pdf: Reads PDFs\n- two: Without front matter.\n");
        assert!(skills.for_model("three").is_none());
        assert_eq!(Skills::default().list(), None);
    }

    #[test]
    fn a_skill_of_the_user_may_be_a_link_and_one_of_the_project_not_out_of_it() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (ours, theirs) = (
            project.path().join(".agents/skills"),
            project.path().join("user"),
        );
        write(elsewhere.path(), "x", "---\ndescription: x\n---\nx");
        for place in [&ours, &theirs] {
            std::fs::create_dir_all(place).unwrap();
            std::os::unix::fs::symlink(elsewhere.path().join("x"), place.join("x")).unwrap();
        }
        let levels = Levels::find(project.path());
        assert!(Skills::find(&levels, &[]).all.is_empty());
        let skills = Skills::find(&levels, &[theirs]);
        assert_eq!(skills.all.len(), 1);
        let real = elsewhere.path().canonicalize().unwrap().join("x");
        assert!(skills.directories.contains(&real), "{skills:?}");
    }

    #[test]
    fn a_model_is_told_so_much_and_no_more() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..SKILLS_MAX {
            let text = format!("---\ndescription: {}\n---\nx", "long ".repeat(200));
            write(place.path(), &format!("s{number}"), &text);
        }
        let levels = Levels::find(Path::new("/"));
        let list = Skills::find(&levels, &[place.path().to_path_buf()])
            .list()
            .unwrap();
        assert!(list.len() < LIST_BYTES_MAX + 100 && list.contains("more that are too many"));
    }
}
