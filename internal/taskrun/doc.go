// Package taskrun runs the tasks of one instance of a stream worker: it keeps
// their stores, restores them from changelog topics, processes their input,
// commits, and keeps a checkpoint. It knows nothing of groups or of the
// protocol: a caller says which tasks are copies and which are active, and
// hands in the commit that its membership fences.
//
// What holds:
//   - A copy follows its changelog without end. A task that becomes active is
//     restored up to the last stable offset first, then reads the offsets that
//     the group committed, then processes.
//   - At least once: changelog writes are acknowledged by all replicas before
//     the input offsets that caused them are committed.
//   - A store on disk and the changelog position that it reflects change in one
//     transaction. A crash replays records and never misses one.
//   - After Demote has returned without an error no record of the task is in
//     process, none of its changelog writes is under way, and its input offsets
//     are committed.
package taskrun
