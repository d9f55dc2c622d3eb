import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Creates a component whose code is loaded when it is first shown, to keep the initial load small. */
export function lazy(
  load: () => Promise<ComponentType>,
  { loading = null, failed = null }: Readonly<{ loading?: ComponentChildren; failed?: ComponentChildren }> = {},
): ComponentType {
  let Loaded: ComponentType | null = null;
  return function Lazy() {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(Loaded === null ? 'loading' : 'loaded');
    useEffect(() => {
      if (Loaded !== null) return;
      load().then(
        (view) => {
          Loaded = view;
          return setState('loaded');
        },
        () => setState('failed'),
      );
    }, []);
    if (state === 'failed') return <>{failed}</>;
    return Loaded === null ? <>{loading}</> : <Loaded />;
  };
}
