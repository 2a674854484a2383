//! The right side: what the place names, below its heading.

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { Empty } from '../ui/Empty';
import { ViewHost } from './ViewHost';
import { wantContainers } from './account';
import { href, route, session, type Route } from './state';
import { containerViews, frameViews, usersView, viewsOf } from './views';

export function Body() {
  const here = route.value;
  useEffect(() => {
    document.title = `${[...title(here)].reverse().join(' · ')} · Armilla`;
  }, [here]);
  return (
    <main class="body">
      <Content here={here} />
    </main>
  );
}

function title(here: Route): string[] {
  switch (here.kind) {
    case 'home':
      return ['Account'];
    case 'advice':
      return ['Advice'];
    case 'new-database':
      return ['New database'];
    case 'database':
      return [here.database];
    case 'new-container':
      return [here.database, 'New container'];
    case 'users':
      return [here.database, 'Users'];
    case 'container':
      return [here.database, here.container, containerViews.get(here.view)?.title ?? ''];
  }
}

function Content({ here }: { here: Route }) {
  const database = 'database' in here ? here.database : '';
  switch (here.kind) {
    case 'home':
      return <ViewHost entry={frameViews.home} database="" container="" rest={[]} />;
    case 'advice':
      return <ViewHost entry={frameViews.advice} database="" container="" rest={[]} />;
    case 'new-database':
      return <ViewHost entry={frameViews.newDatabase} database="" container="" rest={[]} />;
    case 'database':
      return <ViewHost entry={frameViews.database} database={database} container="" rest={[]} />;
    case 'new-container':
      return <ViewHost entry={frameViews.newContainer} database={database} container="" rest={[]} />;
    case 'users':
      return (
        <>
          <Heading path={[[database, { kind: 'database', database }]]} name="Users" />
          <div class="view">
            {usersView ? (
              <ViewHost entry={usersView} database={database} container="" rest={here.rest} />
            ) : (
              <Empty title="There is no such page" />
            )}
          </div>
        </>
      );
    case 'container':
      return (
        <>
          <Heading path={[[database, { kind: 'database', database }]]} name={here.container}>
            <Views here={here} />
          </Heading>
          <div class="view">
            <Container here={here} />
          </div>
        </>
      );
  }
}

function Container({ here }: { here: Extract<Route, { kind: 'container' }> }) {
  const entry = containerViews.get(here.view);
  if (!entry) return <Empty title="There is no such page" />;
  return <ViewHost entry={entry} database={here.database} container={here.container} rest={here.rest} />;
}

interface HeadingProps {
  path: readonly (readonly [string, Route])[];
  name: string;
  children?: ComponentChildren;
}

function Heading({ path, name, children }: HeadingProps) {
  return (
    <div class="heading">
      <h1 class="ellipsis" title={[...path.map(([one]) => one), name].join(' / ')}>
        {path.map(([one, to]) => (
          <span key={one}>
            <a href={href(to)}>{one}</a>
            <span class="dim"> / </span>
          </span>
        ))}
        {name}
      </h1>
      {children}
    </div>
  );
}

/** The views of a container, as links: each has an address of its own. */
function Views({ here }: { here: Extract<Route, { kind: 'container' }> }) {
  useEffect(() => {
    // Which views there are depends on what the container is; a resource token cannot ask.
    if (session.value?.access !== 'token') void wantContainers(here.database);
  }, [here.database]);
  return (
    <nav class="views" aria-label="Views of the container">
      {viewsOf(here.database, here.container).map(([view, { title: text }]) => (
        <a key={view} href={href({ ...here, view, rest: [] })} aria-current={view === here.view ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
