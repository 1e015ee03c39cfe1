//! What the file itself holds, read from a copy: to open it would change what the next agent finds.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use ply_journal::{Journal as _, Sqlite};
use ply_session::{Answer, Event};
use ply_wire::v2;

use crate::failure::{Breach, Failure, Result};
use crate::scratch::Scratch;
use crate::script::{Token, tokens_in};
use crate::told::{Fate, Told, Turn};
use crate::wire;

/// Bytes read at a time.
const READ_BYTES: usize = 256 * 1024;

/// Makes sure that the file is whole, and that it holds what was told, in order and once. Notes what tools did that it does not
/// know of, and returns how many records it holds.
pub(crate) fn audit(scratch: &Scratch, told: &mut Told) -> Result<usize> {
    let copy = copy(scratch)?;
    let effects = effects(scratch)?;
    if fs::metadata(&copy).map_or(0, |about| about.len()) > 0 {
        let file = rusqlite::Connection::open(&copy)?;
        let check: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if check != "ok" {
            return Err(Failure::other(format!("the file is damaged: {check}")));
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let journal = Sqlite::new(copy);
        let mut count = 0;
        for session in &told.sessions {
            match records(&journal, &session.id).await? {
                Some(records) => {
                    count += records.len();
                    let found = Found::read(&records)?;
                    session
                        .turns
                        .iter()
                        .try_for_each(|turn| found.check(turn))?;
                    let known = found.tokens;
                    let here = |effect: &&Token| effect.tag.session == session.number;
                    let unknown = effects
                        .iter()
                        .filter(here)
                        .filter(|effect| !known.contains(effect));
                    told.unknown.extend(unknown);
                }
                None if session.fate == Fate::There => {
                    let words = format!("session {} is not in the file", session.number);
                    return Err(Failure::new(Breach::Lost, words));
                }
                None => {}
            }
        }
        journal.close().await?;
        Ok(count)
    })
}

/// Copies the file and its logs. The shared memory is only an index of the log and is made anew.
fn copy(scratch: &Scratch) -> Result<PathBuf> {
    let (from, to) = (scratch.file(), scratch.copy());
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    fs::create_dir(&to)?;
    let copy = to.join("journal.db");
    for ending in ["", "-wal", "-journal"] {
        let with_ending = |path: &Path| {
            let mut path = path.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        if with_ending(&from).exists() {
            fs::copy(with_ending(&from), with_ending(&copy))?;
        }
    }
    Ok(copy)
}

/// Returns what the agent's tools did, each once.
fn effects(scratch: &Scratch) -> Result<HashSet<Token>> {
    let effects = match scratch.effects().exists() {
        true => fs::read_to_string(scratch.effects())?,
        false => String::new(),
    };
    let mut all = HashSet::new();
    for token in tokens_in(&effects) {
        if !all.insert(token) {
            let words = format!("the tool call {token} was carried out twice");
            return Err(Failure::new(Breach::Duplicate, words));
        }
    }
    Ok(all)
}

async fn records(journal: &Sqlite, id: &str) -> Result<Option<Vec<Vec<u8>>>> {
    let Some((_, log)) = journal.look(id).await? else {
        return Ok(None);
    };
    let mut records = Vec::new();
    loop {
        let page = log.read(records.len() as u64, READ_BYTES).await?;
        if page.is_empty() {
            return Ok(Some(records));
        }
        records.extend(page.records);
    }
}

/// What the records of a session tell.
#[derive(Debug, Default)]
struct Found {
    /// Atoms, in order.
    tokens: Vec<Token>,
    /// What became of questions, by the atoms that put them.
    answers: HashMap<Token, Answer>,
}

impl Found {
    fn read(records: &[Vec<u8>]) -> Result<Self> {
        let mut found = Self::default();
        let (mut asked, mut prompts) = (HashMap::new(), HashSet::new());
        for record in records {
            for token in tokens_in(&String::from_utf8_lossy(record)) {
                if found.tokens.last() != Some(&token) {
                    found.tokens.push(token);
                }
            }
            match serde_json::from_slice(record)? {
                Event::Asked { ask, .. } => {
                    asked.insert(ask, found.tokens.last().copied());
                }
                Event::Answered { ask, answer, .. } => {
                    let token = asked.remove(&ask).flatten();
                    let nowhere = || Failure::other("a question was answered twice, or never put");
                    found.answers.insert(token.ok_or_else(nowhere)?, answer);
                }
                Event::Update(v2::SessionUpdate::UserMessage(message))
                    if !prompts.insert(message.message_id.clone()) =>
                {
                    let words = format!("the prompt {} is there twice", message.message_id.0);
                    return Err(Failure::new(Breach::Duplicate, words));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Makes sure that a turn is there as far as it must be, in order and once.
    fn check(&self, turn: &Turn) -> Result<()> {
        let tag = turn.script.tag;
        let atoms = self.tokens.iter().filter(|token| token.tag == tag);
        let atoms: Vec<usize> = atoms.map(|token| token.atom).collect();
        let expected = turn.tokens();
        if !expected.starts_with(&atoms) {
            let breach = match atoms.iter().collect::<HashSet<_>>().len() == atoms.len() {
                true => Breach::Gap,
                false => Breach::Duplicate,
            };
            let words = format!("the records of {tag} hold the atoms {atoms:?}");
            return Err(Failure::new(breach, words));
        }
        let safe = expected.iter().filter(|atom| **atom < turn.floor).count();
        if atoms.len() < safe {
            let words = format!(
                "the records of {tag} hold {} of {safe} atoms that were safe",
                atoms.len()
            );
            return Err(Failure::new(Breach::Lost, words));
        }
        for ask in &turn.acted {
            let token = Token { tag, atom: *ask };
            let chosen = turn.script.answer(*ask).map(wire::option);
            let kept = match self.answers.get(&token) {
                Some(Answer::Selected(option)) => Some(&*option.0),
                _ => None,
            };
            if kept != chosen {
                let words = format!("{token} was answered with {chosen:?} and is kept as {kept:?}");
                return Err(Failure::new(Breach::Lost, words));
            }
        }
        Ok(())
    }
}
