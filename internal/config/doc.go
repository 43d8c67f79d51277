// Package config finds .helmdrift.yaml, decides whether to trust it, and reads it. In this file of a repository, a team says what it
// accepts: ignore rules, and names of field managers.
//
//	--config FILE ───────────────────────────────────────────────────────────┐
//	working directory ─► Finder.Find: up to the root of the repository,      │
//	                     or the home directory                               ▼
//	                        └─► trusted? its owner, and who may write it ─► Read ─► File ─► internal/ignore makes rules of it
//
// Whoever can place such a file decides which drift counts. So the search is as careful as git's search for its repository: a file that
// somebody else owns or can write is an error. Skipping it silently would hide that the rules of the team are not applied. A file that the
// user names is always trusted.
//
// Reading is strict for the same reason. A misspelt word would ignore nothing, or too much, and a rule for everything would turn the
// program off for everybody who uses the file. Errors name the place in the file, not Go types.
//
// docs/ignore.md describes the file, and docs/config.schema.json is its JSON Schema.
package config
