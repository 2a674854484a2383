//! What if: a change of the model that the reader thinks of, measured.

import { useState } from 'preact/hooks';

import { placeOf, tryOut, type Comparison, type Selection } from '../../api/advice';
import { Button, Field, Input, Problem, Select, Spinner } from '../../ui';
import { useTask } from '../../ui/useTask';
import { Code } from './Code';
import { ComparisonTable } from './ComparisonTable';
import { Recipe } from './Recipe';
import type { Known } from './recipes';
import { command, selectionOf } from './selection';

type Kind = 'key' | 'composite' | 'embed' | 'count' | 'copy';

type FieldName = 'container' | 'paths' | 'sort' | 'reference' | 'source' | 'members' | 'member' | 'counted' | 'shortened';

interface Question {
  name: FieldName;
  label: string;
  help: string;
  placeholder: string;
  isOptional?: boolean;
}

const KINDS: readonly (readonly [Kind, string])[] = [
  ['key', 'Another partition key'],
  ['composite', 'A composite index'],
  ['embed', 'Copies of what items refer to'],
  ['count', 'A count that is kept in an item'],
  ['copy', 'A copy in a container of another key'],
];

const SORT: Question = {
  name: 'sort',
  label: 'Sort of the items',
  help: 'What they say they are, such as post. Empty for all items of the container.',
  placeholder: 'post',
  isOptional: true,
};

const QUESTIONS: Record<Kind, readonly Question[]> = {
  key: [{ name: 'paths', label: 'Paths of the key', help: 'One path, or up to three with commas between for a hierarchical key.', placeholder: '/userId' }],
  composite: [
    { name: 'paths', label: 'Paths of the index', help: 'Two or more with commas between; a minus before a path for descending.', placeholder: '/type, -/creationDate' },
  ],
  embed: [
    SORT,
    { name: 'reference', label: 'Reference', help: 'The path at which an item has the id of another.', placeholder: '/userId' },
    { name: 'source', label: 'Container that it leads to', help: 'The container in which that id is found.', placeholder: 'users' },
    { name: 'members', label: 'Members that are copied', help: 'Paths in the other item, with commas between.', placeholder: '/username' },
  ],
  count: [
    { name: 'sort', label: 'Items that keep the count', help: 'What they say they are.', placeholder: 'post' },
    { name: 'member', label: 'Member with the count', help: 'Its name in those items.', placeholder: 'commentCount' },
    { name: 'counted', label: 'Items that are counted', help: 'What they say they are; they have the same partition key.', placeholder: 'comment' },
  ],
  copy: [
    SORT,
    { name: 'paths', label: 'Key of the copies', help: 'The path that the queries know.', placeholder: '/userId' },
    {
      name: 'shortened',
      label: 'Texts of which copies have the beginning',
      help: 'A path, < and a number of characters, with commas between. May be empty.',
      placeholder: '/content<100',
      isOptional: true,
    },
  ],
};

const CONTAINER: Question = { name: 'container', label: 'Container', help: 'With its database and a slash between.', placeholder: 'blog/posts' };

const EMPTY: Record<FieldName, string> = {
  container: '', paths: '', sort: '', reference: '', source: '', members: '', member: '', counted: '', shortened: '',
};

interface Tried {
  option: string;
  selection: Selection;
}

export interface WhatIfProps {
  /** Empty on the page of the account, where the container is a field. */
  database: string;
  container: string;
  known: Known;
}

export function WhatIf({ database, container, known }: WhatIfProps) {
  const [kind, setKind] = useState<Kind>('key');
  const [texts, setTexts] = useState(EMPTY);
  const [tried, setTried] = useState<Tried | null>(null);
  const task = useTask<Comparison>();
  const questions = database === '' ? [CONTAINER, ...QUESTIONS[kind]] : QUESTIONS[kind];
  const isReady = questions.every((one) => one.isOptional === true || texts[one.name].trim() !== '');

  const run = () => {
    if (!isReady || task.isBusy) return;
    const place = database === '' ? placeOf(texts.container.trim(), '') : { database, container };
    const next = triedBy(kind, texts, place);
    setTried(next);
    task.run((signal) => tryOut(next.selection, [next.option], signal));
  };

  return (
    <section class="card stack" aria-label="What if">
      <h2>What if</h2>
      <p>
        A change of the model, measured as above: the recorded requests are made again on an altered copy of a sample in memory.
        Nothing of the container changes, and nothing is charged.
      </p>
      <form
        class="stack form"
        aria-label="A change to try"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field label="What changes">
          <Select value={kind} options={KINDS} onChange={setKind} />
        </Field>
        {questions.map((one) => (
          <Field key={`${kind} ${one.name}`} label={one.label} help={one.help}>
            <Input
              class="mono"
              value={texts[one.name]}
              placeholder={one.placeholder}
              onInput={(text) => setTexts((before) => ({ ...before, [one.name]: text }))}
            />
          </Field>
        ))}
        <div class="row wrap">
          <Button kind="primary" type="submit" disabled={!isReady || task.isBusy}>
            Try it
          </Button>
          {task.isBusy && (
            <>
              <Spinner label="The server measures it: that takes some seconds" />
              <Button small onClick={task.cancel}>
                Cancel
              </Button>
            </>
          )}
          {task.wasCancelled && <span role="status">Cancelled.</span>}
        </div>
      </form>
      {task.error !== null && <Problem error={task.error} />}
      {tried && task.value && !task.isBusy && task.error === null && !task.wasCancelled && (
        <div class="stack" role="group" aria-label="What it would come to">
          <ComparisonTable comparison={task.value} label="What operations would cost" />
          <Code name="The same on the command line" text={command(tried.selection, [tried.option])} />
          <Recipe options={[tried.option]} known={known} />
        </div>
      )}
    </section>
  );
}

/** Texts go as they are typed, but for the space around them: what is wrong with them is the server's to say. */
function triedBy(kind: Kind, texts: Record<FieldName, string>, place: { database: string; container: string }): Tried {
  const list = (text: string) => text.split(',').map((one) => one.trim()).filter((one) => one !== '').join(',');
  const text = (name: FieldName) => texts[name].trim();
  // A short name is the server's to find.
  const named = (one: { database: string; container: string }) => (one.database === '' ? one.container : `${one.database}/${one.container}`);
  const full = named(place);
  const host = text('sort') === '' ? full : `${full}.${text('sort')}`;
  const selection = selectionOf(place.database, place.container);
  switch (kind) {
    case 'key':
      return { option: `--try-key ${full}:${list(texts.paths)}`, selection };
    case 'composite': {
      const paths = list(texts.paths).split(',').map((one) => (/^[+-]/.test(one) ? one : `+${one}`));
      return { option: `--try-index ${full}:${paths.join(',')}`, selection };
    }
    case 'embed': {
      // What items refer to lies in another container: that has to be looked at, too.
      const source = placeOf(text('source'), place.database);
      const option = `--try-embed ${host}:${text('reference')}=${named(source)}:${list(texts.members)}`;
      return { option, selection: selectionOf(source.database === place.database ? place.database : '', '') };
    }
    case 'count':
      return { option: `--try-count ${full}:${text('sort')}.${text('member')}=${text('counted')}`, selection };
    case 'copy': {
      const cuts = list(texts.shortened);
      return { option: `--try-copy ${host}:${text('paths')}${cuts === '' ? '' : `,${cuts}`}`, selection };
    }
  }
}
