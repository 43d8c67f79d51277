// Package config finds, trusts and reads .helmdrift.yaml, the file in a repository in which a team says what it accepts: ignore rules, and
// names of field managers.
//
//	--config FILE ───────────────────────────────────────────────────────────┐
//	working directory ─► Finder.Find: up to the root of the repository,      │
//	                     or the home directory                               ▼
//	                        └─► trusted? its owner, and who may write it ─► Read ─► File ─► internal/ignore makes rules of it
//
// Whoever can put such a file in the way decides which drift counts. So the search is as careful as that of git for its repository: a file
// that somebody else owns or can write to is an error. To skip it silently would hide that the rules of the team are not applied. A file
// that the user names is not questioned.
//
// Reading is strict for the same reason. A misspelt word would ignore nothing, or too much, and a rule for everything would turn the program
// off for everybody who uses the file. Errors name the place in the file, and not the Go type that the decoder had in mind.
//
// docs/ignore.md describes the file, and docs/config.schema.json is its JSON Schema.
package config
