// What is to be merged: files, directories and lists of files, as given on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pgle {

enum class InputKind { kProfiles, kSamples };

struct InputList {
  InputKind kind = InputKind::kProfiles;
  std::vector<std::string> files;  // in the order given; a directory's by name
};

// Told by name: .pb and .pbtxt are profiles, also with .zst or .gz behind; all else is taken for a
// sample file.
InputKind InputKindOf(const std::string& path);

// `arguments`: files; directories (the profiles or the sample files in them, not deeper; trace and
// HLO files are passed over); "@LIST", a file with a name on each line; "@-" or "-", such a list on
// standard input. `nul_separated`: names in lists end with NUL instead, as find -print0 writes
// them. Errors: a list or directory cannot be read or names nothing; profiles and sample files
// together. A file that does not exist is no error here: whoever reads it says so.
Result<InputList> ResolveMergeInputs(const std::vector<std::string>& arguments, bool nul_separated,
                                     const std::string& spool_directory);

// The first of `files` that is the same file as `output`; empty when there is none.
std::string FindOutputAmong(const std::vector<std::string>& files, const std::string& output);

}  // namespace pgle
