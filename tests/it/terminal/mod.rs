//! What a person types and reads.

mod cli;
mod connect;
mod documents;
mod looking;
mod pages;
mod refusals;
mod screens;
