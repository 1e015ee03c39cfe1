//! Every document, under every condition.

use std::panic::AssertUnwindSafe;

use coder_tests::Api;
use futures::FutureExt as _;
use ply_client::Supported;
use ply_coder::permission::Mode;

use crate::case::Case;
use crate::checks::hold;
use crate::stage::{Conditions, Person, play};

/// How many documents there are at least.
const DOCUMENTS_MIN: usize = 60;

/// Returns the instructions of a project that brings none.
async fn usual(conditions: Conditions) -> String {
    let played = play(&Case::harmless(), conditions).await;
    let system = played.world.model.request(0).await.system();
    system.replace(played.world.path().to_str().unwrap(), "{root}")
}

/// Tries every wanted document and returns how many there were. A failure keeps none of the others from
/// being tried.
async fn try_all(conditions: Conditions, wanted: fn(&Case) -> bool) -> usize {
    let usual = usual(conditions).await;
    let (mut tried, mut failed) = (0, Vec::new());
    for case in Case::all().into_iter().filter(wanted) {
        let trial = async {
            let played = play(&case, conditions).await;
            hold(&case, conditions, &played, &usual).await;
        };
        if AssertUnwindSafe(trial).catch_unwind().await.is_err() {
            failed.push(case.name);
        }
        tried += 1;
    }
    assert!(failed.is_empty(), "{failed:#?}");
    tried
}

#[test]
fn documents_have_names_of_their_own() {
    let mut names: Vec<_> = Case::all().into_iter().map(|case| case.name).collect();
    names.sort();
    names.dedup();
    assert!(names.len() >= DOCUMENTS_MIN, "{}", names.len());
    assert_eq!(names.len(), Case::all().len());
}

#[tokio::test]
async fn no_document_gets_anything_done_in_plan_mode() {
    let conditions = Conditions {
        mode: Mode::Plan,
        person: Person::Rejects,
        versions: Supported::V1,
        api: Api::Anthropic,
    };
    assert!(try_all(conditions, |_| true).await >= DOCUMENTS_MIN);
}

#[tokio::test]
async fn no_document_gets_past_a_user_who_rejects() {
    let conditions = Conditions {
        mode: Mode::Ask,
        person: Person::Rejects,
        versions: Supported::V2,
        api: Api::Chat,
    };
    assert!(try_all(conditions, |_| true).await >= DOCUMENTS_MIN);
}

#[tokio::test]
async fn no_document_gets_more_than_a_careful_user_allows_once() {
    let conditions = Conditions {
        mode: Mode::Ask,
        person: Person::Careful,
        versions: Supported::V2,
        api: Api::Anthropic,
    };
    assert!(try_all(conditions, |_| true).await >= DOCUMENTS_MIN);
}

#[tokio::test]
async fn no_document_gets_to_guarded_places_where_edits_are_allowed() {
    let conditions = Conditions {
        mode: Mode::AutoEdit,
        person: Person::Rejects,
        versions: Supported::V1,
        api: Api::Gemini,
    };
    assert!(try_all(conditions, |_| true).await >= DOCUMENTS_MIN);
}

#[tokio::test]
async fn with_full_rights_files_outside_and_guarded_places_are_left_alone() {
    let conditions = Conditions {
        mode: Mode::Full,
        person: Person::Rejects,
        versions: Supported::V2,
        api: Api::Responses,
    };
    // What commands may do then is the user's choice, so only those for files are tried.
    let only_files = |case: &Case| {
        let mut calls = case.obeys.iter().flatten();
        case.full && calls.all(|(name, _)| !matches!(name.as_str(), "shell" | "web_fetch"))
    };
    assert!(try_all(conditions, only_files).await >= 15);
}
