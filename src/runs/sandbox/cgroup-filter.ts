/** The numbers of system calls and architectures, which differ for programs of 32 bits. */
const ARCHITECTURES: Readonly<Record<string, readonly { arch: number; unshare: number; clone: number }[]>> = {
  x64: [
    { arch: 0xc0_00_00_3e, unshare: 272, clone: 56 },
    { arch: 0x40_00_00_03, unshare: 310, clone: 120 },
  ],
  arm64: [
    { arch: 0xc0_00_00_b7, unshare: 97, clone: 220 },
    { arch: 0x40_00_00_28, unshare: 337, clone: 120 },
  ],
};
const CLONE3 = 435;
const NEW_CGROUP = 0x02_00_00_00;
/** On x64, calls with 32-bit pointers have this bit too. */
const NUMBER_BITS = 0x3f_ff_ff_ff;

/** The offsets in `struct seccomp_data`. */
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT] = [0, 4, 16];
const [LOAD, AND, IF_EQUAL, IF_SET, RETURN] = [0x20, 0x54, 0x15, 0x45, 0x06];
const ALLOW = 0x7f_ff_00_00;
/** Return an error: that the call is not permitted, or that the kernel does not have it. */
const [NOT_PERMITTED, NOT_IMPLEMENTED] = [0x05_00_01, 0x05_00_26];

/**
 * Creates a seccomp filter that denies new cgroup namespaces; undefined if the numbers of this architecture are not
 * known. In a separate cgroup namespace, an agent could mount the host's control groups, which root may write to from
 * inside a sandbox, and a user in its session: it could limit or freeze Sluice. Agents need other namespaces for their
 * own sandboxes. A filter cannot read the flags of `clone3`; without it, libraries use `clone`.
 */
export function createCgroupFilter(architecture: string = process.arch): Buffer | undefined {
  const architectures = ARCHITECTURES[architecture];
  if (architectures === undefined) return undefined;
  const blocks = architectures.flatMap(({ arch, unshare, clone }) => [
    instruct(IF_EQUAL, arch, 0, 10),
    instruct(LOAD, NUMBER),
    instruct(AND, NUMBER_BITS),
    instruct(IF_EQUAL, CLONE3, 5, 0),
    instruct(IF_EQUAL, unshare, 1, 0),
    instruct(IF_EQUAL, clone, 0, 2),
    instruct(LOAD, FIRST_ARGUMENT),
    instruct(IF_SET, NEW_CGROUP, 2, 0),
    instruct(RETURN, ALLOW),
    instruct(RETURN, NOT_IMPLEMENTED),
    instruct(RETURN, NOT_PERMITTED),
  ]);
  return Buffer.concat([instruct(LOAD, ARCHITECTURE), ...blocks, instruct(RETURN, ALLOW)]);
}

/** An instruction of a filter, with the numbers of instructions to skip if a condition is true, and if it is false. */
function instruct(code: number, value: number, skipIfTrue = 0, skipIfFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(skipIfTrue, 2);
  bytes.writeUInt8(skipIfFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
