/** The parts of the cluster's objects that are read. */
export interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
  readonly deletionTimestamp?: string;
  readonly resourceVersion?: string;
}

/** The state of one container; exactly one field is set. */
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: { readonly reason?: string; readonly exitCode: number; readonly message?: string };
}

/** A condition of a pod, a node or a job. */
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A pod. */
export interface Pod {
  readonly metadata: Metadata;
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly { readonly name: string; readonly state?: ContainerState }[];
  };
}

/** A job. */
export interface Job {
  readonly metadata: Metadata;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A node; `absent` if the cluster has none with this name, undefined if that cannot be known. */
export type FoundNode =
  | 'absent'
  | {
      readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
      readonly status?: { readonly conditions?: readonly Condition[] };
    }
  | undefined;

/** An event about a pod or a job. */
export interface ClusterEvent {
  readonly reason?: string;
  readonly message?: string;
}

/** A list of objects. */
export interface List<Item> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Item[];
}

/** A line of a watch. */
export interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Pod & { readonly code?: number };
}
