//! A company in which people and agents work together: its values, its entities, the rules of
//! its tasks and approvals, and who may do what. Pure.

pub mod access;
pub mod approval;
pub mod entity;
pub mod record;
pub mod task;
pub mod value;
