// Writes a file that a person has named, such as a report. How it is written depends on the target:
//
//   - A new or regular file appears complete or not at all: the text is written to the temporary
//     file TARGET.unfinished-PID in the same folder, and this file is then renamed to TARGET. If
//     the path is a symbolic link, the link stays, and the file that the link names is replaced.
//   - A character device or FIFO, such as /dev/null or >(command), is opened and written. Opening a
//     FIFO waits until another process has opened it for reading.
//   - If the path is a link in /proc, a regular file that it leads to is written in place. The file
//     may have no name, so it cannot be replaced by renaming another file.
//   - `-` means the standard output. For `-` and for other names of the standard output or error,
//     such as /dev/stdout, the text is written to the open stream.
//   - A block device, socket or folder is an error.
//   - Another user's symbolic link in a shared folder such as /tmp is an error. The kernel refuses
//     to open such a link (protected_symlinks). This code follows links itself, with readlink(), so
//     it must refuse them too.
//
// runner/output_file.py has the same rules for Python. Several threads may call these functions for
// different paths.
#pragma once

#include <string>

#include "base/result.h"

namespace keydrome {

// Returns an error if write_file() could not write `path` now. Call this function before a long
// run, so that the user sees a wrong path at once. The function leaves no file.
Result<void> check_writable(const std::string& path);

// Writes `text` to `path` as described above. If only the renaming fails, the temporary file stays,
// and the error names it: the text may be all that is left of a long run. After every other error,
// the temporary file is removed.
Result<void> write_file(const std::string& path, const std::string& text);

}  // namespace keydrome
