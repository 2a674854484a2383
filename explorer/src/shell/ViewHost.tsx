//! The view that the place names, loaded when it is first looked at.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Problem } from '../ui/Problem';
import { Spinner } from '../ui/Spinner';
import type { ViewEntry, ViewProps } from './views';

type Loaded = { entry: ViewEntry; view: ComponentType<ViewProps> } | { entry: ViewEntry; error: unknown };

/** Shows one view. Another container is another view, with a state of its own. */
export function ViewHost({ entry, ...props }: ViewProps & { entry: ViewEntry }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    let isWanted = true;
    entry.load().then(
      (module) => isWanted && setLoaded({ entry, view: module.default }),
      (error: unknown) => isWanted && setLoaded({ entry, error }),
    );
    return () => {
      isWanted = false;
    };
  }, [entry]);
  if (loaded?.entry !== entry) {
    return (
      <div class="page">
        <Spinner label="Loading" />
      </div>
    );
  }
  if ('error' in loaded) {
    return (
      <div class="page">
        <Problem error={loaded.error} />
      </div>
    );
  }
  const View = loaded.view;
  return <View key={`${props.database}/${props.container}`} {...props} />;
}
