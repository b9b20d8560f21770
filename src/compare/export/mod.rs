//! A comparison as text, Markdown, JSON and the formats that pipelines read.
