//! Looks at everything that came in a turn, whatever the turn was for.

use super::Course;
use crate::agent::bench::{Agent, Bench};
use crate::agent::{
    background, content, diff, elicitation, files, notices, permission, plan, state, stop,
    terminals, tool,
};

/// Judges the shapes and the order of what came in a turn.
pub(in crate::agent) fn review(bench: &mut Bench, agent: &Agent, course: &Course) {
    stop::look(bench, agent, course);
    tool::look(bench, agent, course);
    diff::look(bench, agent, course);
    permission::look(bench, agent, course);
    plan::look(bench, agent, course);
    content::look(bench, agent, course);
    notices::look(bench, agent, course);
    files::look(bench, agent, course);
    terminals::look(bench, agent, course);
    elicitation::look(bench, agent, course);
    state::look(bench, agent, course);
    background::look(bench, agent, course);
}
