// Makes the sample files of a large job for benchmarks.
//
//   make_samples DIRECTORY PROCESSES INSTRUCTIONS
//
// Writes DIRECTORY/hostNNNNN.samples: one process with one device each, one module, three
// executions of each instruction, every eighth a collective. The same arguments give the same
// bytes.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/sha256.h"
#include "samples/sample_file.h"

namespace {

pgle::Status WriteProcess(const std::string& path, unsigned process, unsigned instructions) {
  std::minstd_rand random(process + 1);
  pgle::SampleHeader header;
  header.processes = {{pgle::Sha256Of(std::to_string(process)), path, {"/device:GPU:0"}}};
  header.modules = {{"jit_train_step", "3d6b5a1c9e0f47828a1b2c3d4e5f6071", {0}, 1'000'000'000}};
  std::vector<std::string> names;
  for (unsigned i = 0; i < instructions; ++i) {
    names.push_back((i % 8 == 0 ? "all-gather-start." : "loop_fusion.") + std::to_string(i));
  }
  std::sort(names.begin(), names.end());
  auto writer = pgle::SampleWriter::Create(path, header);
  if (!writer.ok()) return writer.error();
  pgle::SampleRecord record;
  for (const std::string& name : names) {
    record.name = name;
    const bool collective = name[0] == 'a';
    record.sample_class = collective ? pgle::SampleClass::kCollective : pgle::SampleClass::kCompute;
    record.durations.clear();
    for (int k = 0; k < 3; ++k) {
      record.durations.push_back(static_cast<pgle::Picoseconds>(40'000'000 + random() % 4'000'000));
    }
    if (pgle::Status status = writer->Add(record); !status.ok()) return status;
  }
  return writer->Finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: make_samples DIRECTORY PROCESSES INSTRUCTIONS\n");
    return 2;
  }
  mkdir(argv[1], 0777);
  for (unsigned i = 0; i < static_cast<unsigned>(atoi(argv[2])); ++i) {
    char name[32];
    snprintf(name, sizeof name, "/host%05u.samples", i);
    const pgle::Status status =
        WriteProcess(argv[1] + std::string(name), i, static_cast<unsigned>(atoi(argv[3])));
    if (status.ok()) continue;
    fprintf(stderr, "make_samples: %s: %s\n", status.error().where.c_str(),
            status.error().what.c_str());
    return 1;
  }
  return 0;
}
