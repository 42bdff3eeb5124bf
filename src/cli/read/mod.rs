//! Verbs that show what is on the record.

pub mod diff;
pub mod events;
pub mod list;
pub mod report;
pub mod show;
pub mod status;
pub mod timeline;
