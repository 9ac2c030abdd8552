// Functions that machine code calls: those of the C library that the tape calls, for one number or for four, one after
// the other.
#pragma once

namespace hinge {

/// Of a kind of step (TapePlan); null where none is called. With one lane it takes numbers and returns one, but for a
/// sine with its cosine, (angle, two places), and a table, (number, table). With four all are in memory: the places of
/// the results, of the arguments, and the table.
const void* called_function(int kind, int lanes);

}  // namespace hinge
