// The spill file: what the recorder writes while the program runs, and the converter reads
// afterwards.
//
// A file is a sequence of chunks: a ChunkHeader, then `size` bytes of payload (a multiple of 8,
// padded with zeros). All integers are little-endian, all times nanoseconds of CLOCK_REALTIME,
// which is what CUPTI's default timestamps are. A chunk is written with one write(2); a process
// that is killed leaves at most one incomplete chunk at the end, and what stands before it is
// whole. Tables (strings, ranges, kernel names) come in parts, and a chunk may refer to entries of
// a part that follows: join only once all has been read.
#pragma once

#include <cstdint>

namespace pgle::recorder {

inline constexpr uint32_t kChunkMagic = 0x4b434750;  // "PGCK"
inline constexpr uint32_t kSpillVersion = 1;

enum class ChunkType : uint16_t {
  kProcess = 1,      // ProcessInfo; the first chunk of a file
  kText = 2,         // facts about the process: "key\0value\0" pairs
  kDevices = 3,      // DeviceInfo[]
  kStrings = 4,      // StringEntry + text, each padded to 4 bytes: texts of NVTX ranges
  kRanges = 5,       // RangeEntry[]: stacks of ranges, interned
  kEvents = 6,       // EventsHeader, then Event[]: of one thread, in order
  kKernelNames = 7,  // as kStrings, in an id space of its own
  kKernels = 8,      // KernelRecord[]
  kCopies = 9,       // CopyRecord[]
  kSets = 10,        // SetRecord[]
  kClock = 11,       // ClockPair[]
  kCounters = 12,    // Counters: totals so far; the last one holds
  kWindow = 13,      // WindowChange, then text (the reason), NUL-terminated
  kEnd = 14,         // EndMark: the process came to its end; absent when it was killed
};

struct ChunkHeader {
  uint32_t magic = kChunkMagic;
  uint16_t type = 0;
  uint16_t reserved = 0;
  uint32_t size = 0;   // bytes of payload that follow
  uint32_t crc32 = 0;  // of the payload, as zlib's crc32()
};
static_assert(sizeof(ChunkHeader) == 16);

struct ProcessInfo {
  uint32_t version = kSpillVersion;
  uint32_t pid = 0;
  uint64_t start_ns = 0;        // when the recorder was loaded
  uint32_t cupti_version = 0;   // cuptiGetVersion(); 0 when CUPTI was not loaded
  uint32_t driver_version = 0;  // cuDriverGetVersion()
  uint64_t reserved = 0;
};
static_assert(sizeof(ProcessInfo) == 32);

// Keys of kText.
inline constexpr char kTextCommand[] = "command";        // argv, blanks between
inline constexpr char kTextExecutable[] = "executable";  // /proc/self/exe
inline constexpr char kTextCupti[] = "cupti";            // path of the libcupti in use
inline constexpr char kTextXlaFlags[] = "xla_flags";     // XLA_FLAGS of the process

struct DeviceInfo {
  uint32_t ordinal = 0;  // CUDA ordinal inside the process
  uint32_t compute_major = 0, compute_minor = 0;
  uint32_t multiprocessors = 0;
  uint32_t clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  uint32_t warp_size = 0, threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  uint32_t registers_per_multiprocessor = 0;
  uint32_t shared_bytes_per_multiprocessor = 0;
  uint32_t reserved_shared_bytes_per_block = 0;
  uint32_t reserved = 0;
  uint64_t memory_bytes = 0;
  uint8_t uuid[16] = {};
  char pci_bus_id[32] = {};
  char name[96] = {};
};
static_assert(sizeof(DeviceInfo) == 208);

struct StringEntry {
  uint32_t id = 0;    // from 1 on
  uint32_t size = 0;  // bytes of text that follow, without padding
};

// A stack of ranges, as its innermost range and the stack below. Id 0 is the empty stack.
struct RangeEntry {
  uint32_t id = 0, parent = 0;
  uint32_t string = 0;  // id in kStrings; 0 when the table of strings was full
  uint32_t reserved = 0;
};
static_assert(sizeof(RangeEntry) == 16);

struct EventsHeader {
  uint32_t thread =
      0;              // number of the thread in this file; numbers are reused after a thread ended
  uint32_t tid = 0;   // gettid()
  uint64_t lost = 0;  // events of this thread that found its buffer full, so far
};
static_assert(sizeof(EventsHeader) == 16);

enum class EventKind : uint8_t {
  kModuleBegin = 1,  // an XlaModule range was pushed: an execution of a module on one device begins
  kModuleEnd = 2,    // and popped: the host has dispatched it
  kLaunch = 3,       // a driver call that gives the device work
  kNodeCreated = 4,  // a node of a CUDA graph, made inside `range`; clones are announced so, too
  kNodeCloned = 5,   // a node that is a copy of another: what holds of that one's range holds of it
};

inline constexpr uint8_t kNoDevice = 255;

struct Event {
  EventKind kind = EventKind::kLaunch;
  uint8_t device = kNoDevice;  // ordinal of the current context, of modules only
  uint16_t callback = 0;       // kLaunch: CUPTI's id of the driver function
  uint32_t range = 0;  // the stack of ranges (its innermost one is the module's, of modules)
  union {
    struct {
      uint64_t time;      // when the call was entered
      uint32_t duration;  // of the call, on the host
      uint32_t correlation;
      uint32_t scope;      // number of the innermost push on this thread: one run of one thunk
      uint32_t execution;  // number of the XlaModule push on this thread that is open; 0 = none
    } launch;
    struct {
      uint64_t time;
      uint64_t index;  // kModuleBegin: this execution's number on its device, from 0 on
      uint32_t execution;
      uint32_t reserved;
    } module;
    struct {
      uint64_t node;  // cuptiGetGraphNodeId(): the graph's id << 32, and the node's number in it
      uint64_t original;  // kNodeCloned: the node that was copied
      // kNodeCreated: as of launches; 0 when unknown. An op that a loop's unrolling records several
      // times into one graph has one number a time.
      uint32_t scope;
      uint32_t reserved;
    } graph;
  };
};
static_assert(sizeof(Event) == 32);

// Kernels of graphs have the correlation id of the graph's launch; graph_node names them. 0 = none.
struct KernelRecord {
  uint64_t start = 0, end = 0;  // 0 when the device gave no time
  uint64_t graph_node = 0;
  uint32_t graph = 0;  // the executable graph's id
  uint32_t correlation = 0;
  uint32_t name = 0;  // in kKernelNames
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint32_t registers = 0;  // per thread
  uint32_t reserved = 0;
};
static_assert(sizeof(KernelRecord) == 88);

struct CopyRecord {
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t correlation = 0;
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t destination_device = 0;  // of a copy between devices, else `device`
  uint8_t copy_kind = 0;            // CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP ...
  uint8_t source_kind = 0, destination_kind = 0;  // CUpti_ActivityMemoryKind
  uint8_t is_async = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(CopyRecord) == 64);

struct SetRecord {
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t correlation = 0;
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t value = 0;
  uint8_t memory_kind = 0;
  uint8_t is_async = 0;
  uint8_t reserved[6] = {};
};
static_assert(sizeof(SetRecord) == 64);

struct ClockPair {
  uint64_t realtime = 0, monotonic = 0;
};

struct Counters {
  uint64_t records = 0;          // kernels, copies and memsets written
  uint64_t dropped_records = 0;  // by CUPTI: cuptiActivityGetNumDroppedRecords
  uint64_t dropped_buffers = 0;  // by the recorder, over its memory limit
  uint64_t untimed_records = 0;  // written, but without start or end
  uint64_t lost_events = 0;      // launches, module runs, graph nodes: a thread's buffer was full
  uint64_t lost_strings = 0;     // texts of ranges, and stacks of ranges: a table was full
  uint64_t write_errors = 0;  // chunks that could not be written; the text is in the control page
  uint64_t module_runs = 0;   // XlaModule ranges pushed
};
static_assert(sizeof(Counters) == 64);

enum class WindowState : uint32_t {
  kArmed = 1,    // activity is on; what was recorded before the window's first step is to be cut
  kOpen = 2,     // the first step has begun
  kClosing = 3,  // the last step's end was dispatched
  kClosed = 4,   // all records have arrived and were written: the recording is complete
};

struct WindowChange {
  WindowState state = WindowState::kArmed;
  uint32_t string = 0;  // of the XlaModule range that steps are counted of; 0 in other windows
  uint64_t time = 0;
  uint64_t first = 0, last = 0;  // executions [first, last) of that module on each device
};
static_assert(sizeof(WindowChange) == 32);

struct EndMark {
  uint64_t time = 0;
  uint64_t reserved = 0;
};

}  // namespace pgle::recorder
