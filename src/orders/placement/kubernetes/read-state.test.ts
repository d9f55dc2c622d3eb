import { describe, expect, it } from 'vitest';
import type { FoundNode, Job, Pod } from './objects.js';
import { readState, type Evidence } from './read-state.js';

const JOB: Job = { metadata: { name: 'job', uid: 'j1' } };
const FAILED_JOB: Job = { ...JOB, status: { conditions: [{ type: 'Failed', status: 'True' }] } };

type State = NonNullable<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']>;
const RUNNING: State = { running: {} };
const ENDED: State = { terminated: { exitCode: 0 } };

function makePod(phase: string, state?: State, more: Partial<NonNullable<Pod['status']>> = {}): Pod {
  const containerStatuses = state === undefined ? [] : [{ name: 'worker', state }];
  return {
    metadata: { name: 'pod', uid: 'p1' },
    spec: { nodeName: 'node' },
    status: { phase, containerStatuses, ...more },
  };
}

const deleting = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-11-18T00:00:00Z' },
});
const read = (evidence: Partial<Evidence>) =>
  readState({ job: JOB, pods: [], deleted: [], nodes: new Map([['node', READY]]), events: [], ...evidence });

const READY: FoundNode = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
const SILENT: FoundNode = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const OUT_OF_SERVICE: FoundNode = { ...SILENT, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } };
const onNode = (node: FoundNode) => new Map([['node', node]]);

describe('the state of a place', () => {
  it.each<[string, Partial<Evidence>, string]>([
    ['a job without a pod yet', {}, 'pending'],
    ['a pod without a node', { pods: [{ ...makePod('Pending'), spec: {} }] }, 'pending'],
    ['a pod whose container is created', { pods: [makePod('Pending', { waiting: {} })] }, 'pending'],
    ['a pod whose container runs', { pods: [makePod('Running', RUNNING)] }, 'alive'],
    ['a pod that is ending', { pods: [deleting(makePod('Running', RUNNING))] }, 'alive'],
    ['a pod whose container has ended', { pods: [makePod('Succeeded', ENDED)] }, 'gone'],
    ['a pod that its node refused', { pods: [makePod('Failed')] }, 'gone'],
    [
      'a deleted pod that never had a node',
      { job: undefined, deleted: [deleting({ ...makePod('Pending'), spec: {} })] },
      'gone',
    ],
    [
      'a deleted pod whose end was reported',
      { job: FAILED_JOB, deleted: [deleting(makePod('Failed', ENDED))] },
      'gone',
    ],
    ['a deleted pod that the job will replace', { deleted: [deleting(makePod('Failed', ENDED))] }, 'pending'],
    [
      'a complete job whose pods are gone',
      { job: { ...JOB, status: { conditions: [{ type: 'Complete', status: 'True' }] } } },
      'gone',
    ],
    ['a failed job whose pods are gone', { job: FAILED_JOB }, 'unknown'],
    ['nothing at all', { job: undefined }, 'unknown'],
    ['a pod that was deleted by force', { deleted: [deleting(makePod('Running', RUNNING))] }, 'unknown'],
    ['a pod on a silent node', { pods: [makePod('Running', RUNNING)], nodes: onNode(SILENT) }, 'unknown'],
    ['a pod on a node that cannot be read', { pods: [makePod('Running', RUNNING)], nodes: onNode(undefined) }, 'alive'],
    ['a pod on a deleted node', { pods: [makePod('Running', RUNNING)], nodes: onNode('absent') }, 'gone'],
    ['a pod on a node out of service', { pods: [makePod('Running', RUNNING)], nodes: onNode(OUT_OF_SERVICE) }, 'gone'],
    [
      'a pod that the cluster marked failed without its node',
      { pods: [makePod('Failed', undefined, { reason: 'NodeLost' })] },
      'unknown',
    ],
    [
      'a second pod beside an ended one',
      { deleted: [deleting(makePod('Failed', ENDED))], pods: [makePod('Running', RUNNING)] },
      'alive',
    ],
  ])('of %s', (_, evidence, state) => {
    expect(read(evidence).state).toBe(state);
  });

  it.each<[string, Partial<Evidence>, object]>([
    [
      'evicted by its node',
      { pods: [makePod('Failed', { terminated: { exitCode: 137 } }, { reason: 'Evicted', message: 'low on memory' })] },
      { state: 'gone', cause: 'evicted', reason: 'evicted: low on memory' },
    ],
    [
      'out of memory',
      { pods: [makePod('Failed', { terminated: { exitCode: 137, reason: 'OOMKilled' } })] },
      { state: 'gone', cause: 'oom', reason: 'the pod used more than its memory' },
    ],
    [
      'without its image',
      { pods: [makePod('Pending', { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } })] },
      { state: 'pending', cause: 'image', reason: 'ImagePullBackOff: no such image' },
    ],
    [
      'without quota',
      { events: [{ reason: 'FailedCreate', message: 'pods "x" is forbidden: exceeded quota: small' }] },
      { state: 'pending', cause: 'quota', reason: 'pods "x" is forbidden: exceeded quota: small' },
    ],
    [
      'refused by the cluster for another reason',
      { events: [{ reason: 'FailedCreate', message: 'violates PodSecurity' }] },
      { state: 'pending', reason: 'violates PodSecurity' },
    ],
    [
      'preempted, as an event says',
      {
        job: FAILED_JOB,
        deleted: [deleting(makePod('Failed', { terminated: { exitCode: 143 } }))],
        events: [{ reason: 'Preempted', message: 'by default/vip' }],
      },
      { state: 'gone', cause: 'preempted', reason: 'preempted by another pod: by default/vip' },
    ],
    [
      'preempted, as its condition says',
      {
        pods: [
          makePod('Failed', ENDED, {
            conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
          }),
        ],
      },
      { state: 'gone', cause: 'preempted', reason: 'PreemptionByScheduler' },
    ],
    [
      'lost with its node',
      { pods: [makePod('Running', RUNNING)], nodes: onNode('absent') },
      { state: 'gone', cause: 'node_lost', reason: 'the node "node" was lost' },
    ],
    [
      'ended by itself, with an error',
      { job: FAILED_JOB, pods: [makePod('Failed', { terminated: { exitCode: 1, reason: 'Error' } })] },
      { state: 'gone' },
    ],
    [
      'not scheduled',
      {
        pods: [
          {
            ...makePod('Pending', undefined, {
              conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }],
            }),
            spec: {},
          },
        ],
      },
      { state: 'pending', reason: '0/3 nodes are available' },
    ],
  ])('names the cause of a place that was %s', (_, evidence, report) => {
    expect(read(evidence)).toEqual(report);
  });
});
