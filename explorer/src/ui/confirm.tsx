//! Questions before something that cannot be taken back.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

import { Button } from './Button';
import { Dialog } from './Dialog';
import { Field, Input } from './Field';

export interface Question {
  title: string;
  text: string;
  /** What the button says that does it. */
  action: string;
  danger?: boolean;
  /** Has to be typed before: for what takes much with it. */
  typed?: string;
}

interface Asked extends Question {
  answer(yes: boolean): void;
}

const questions = signal<Asked[]>([]);

/** Asks, and tells whether the answer was yes. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const asked: Asked = {
      ...question,
      answer(yes) {
        questions.value = questions.value.filter((one) => one !== asked);
        resolve(yes);
      },
    };
    questions.value = [...questions.value, asked];
  });
}

/** Where the questions appear: the shell has one of these. */
export function Questions() {
  const asked = questions.value[0];
  return asked ? <One key={asked.title + asked.text} asked={asked} /> : null;
}

function One({ asked }: { asked: Asked }) {
  const [typed, setTyped] = useState('');
  const may = asked.typed === undefined || typed === asked.typed;
  return (
    <Dialog
      title={asked.title}
      onClose={() => asked.answer(false)}
      onSubmit={() => may && asked.answer(true)}
      footer={
        <>
          <Button onClick={() => asked.answer(false)}>Cancel</Button>
          <Button kind={asked.danger ? 'danger' : 'primary'} type="submit" disabled={!may}>
            {asked.action}
          </Button>
        </>
      }
    >
      <p class="said">{asked.text}</p>
      {asked.typed !== undefined && (
        <Field label={`Type the name to go on: ${asked.typed}`}>
          <Input value={typed} onInput={setTyped} autofocus />
        </Field>
      )}
    </Dialog>
  );
}
