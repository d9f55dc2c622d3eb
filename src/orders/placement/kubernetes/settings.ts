/** The operator's settings for pods, `placements.kubernetes` in the configuration. */
export interface KubernetesSettings {
  /** The kubeconfig; by default as `kubectl` finds it, or inside a pod its service account. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The address of the server, as pods reach it; its own by default. */
  readonly server?: string;
  /** By default that of the context, or of the pod. */
  readonly namespace?: string;
  /** The image of the worker's container, which contains Sluice. */
  readonly worker_image?: string;
  /** The image of the agent's container of runs that name none. It contains the agent, and Node.js. */
  readonly image?: string;
  /** Images that requests may name besides; `*` matches any characters. */
  readonly images?: readonly string[];
  readonly service_account?: string;
  /** Such as `gvisor` or `kata`. */
  readonly runtime_class?: string;
  /** How long a finished job stays in the cluster. */
  readonly ttl_s?: number;
  /** The resource that `gpu` counts. */
  readonly gpu_resource?: string;
  /** Merged into the pod's template: lists whose entries have a name are merged by it, other values are replaced. */
  readonly template?: Readonly<Record<string, unknown>>;
}
