"""Questions with what they are understood as: kind | names with roles | versions | question.

Roles: `+` asked about, `.` mentioned, `-` something else's. A line without a kind leaves it open.
"""

QUESTIONS = """
default | timeout+ httpx.Client+ | | What is the default timeout in httpx.Client?
default | follow_redirects+ httpx.Client+ | | default of follow_redirects in httpx.Client
default | timeout+ httpx.get+ | | What is the default value of timeout in httpx.get?
default | indent+ json.dumps+ | | what's the default for indent in json.dumps
default | type+ attrs.field+ | | What is the default of type in attrs.field?
default | default+ dict.get+ | | What is the default of default in dict.get?
default | pool_size+ create_engine+ | | What does pool_size default to in create_engine?
default | `max_length`+ | | Which default has `max_length`?
default | index+ to_csv+ | | is there a default for index in to_csv? what is the default of index in to_csv
default | requests.get+ | | what happens if I don't pass a timeout to requests.get?
default | io.open+ | | what happens if I do not give encoding in io.open
meaning | shortest_path+ | | which exceptions does shortest_path raise?
yes_no | json.loads+ NaN+ | | Does json.loads accept NaN?
yes_no | httpx+ | | Does httpx follow redirects by default?
default | click.confirm+ | | what prompt suffix does click.confirm use by default
default | networkx+ pagerank+ | | what damping factor does networkx pagerank use by default
how_to | | | how do I make all fields optional by default
options | how+ | | which values can I pass for how in merge
yes_no | Client+ | | Is Client thread safe?
yes_no | httpx.Client+ | | is httpx.Client thread-safe
yes_no | BaseModel+ | | Can BaseModel be frozen?
yes_no | Session+ | | Is the Session object thread safe?
yes_no | | | Can I stream responses with httpx?
yes_no | click.Path+ click.File. | | can I use click.Path instead of click.File?
yes_no | os.remove+ Path.unlink. | | Can I delete a file with os.remove instead of Path.unlink?
yes_no | asyncio.gather+ | | Does asyncio.gather cancel the others when one fails?
yes_no | strict+ | | Does the strict option work with zip?
yes_no | read_csv+ | | does read_csv handle gzip files
yes_no | ConfigDict+ | | does ConfigDict have extra
yes_no | `Response.json`+ | | Will `Response.json()` raise for an empty body?
yes_no | DataFrame.merge+ | | Is DataFrame.merge an inner join?
meaning | model_dump+ | | What does model_dump do?
meaning | get+ | | What does get do in httpx?
meaning | with_for_update+ | | What does with_for_update do here?
meaning | httpx.Client.build_request+ | | What does httpx.Client.build_request do in httpx?
meaning | strict+ | | What does the strict option do?
meaning | `follow_redirects`+ | | What does `follow_redirects=` do?
meaning | `how`+ pandas.merge+ | | What does `how` mean in pandas.merge?
meaning | TypeAdapter+ | | What is TypeAdapter?
meaning | ReadTimeout+ | | What does ReadTimeout mean?
meaning | RequestError+ | | When is RequestError raised?
meaning | ValidationError+ | | What is ValidationError in pydantic?
meaning | Depends+ | | How does Depends work?
meaning | BaseModel+ | | Could you explain how BaseModel works?
meaning | SimpleNamespace+ | | what is the purpose of SimpleNamespace
meaning | np.einsum+ | | explain np.einsum
meaning | __init_subclass__+ | | What does __init_subclass__ do?
meaning | to_dict+ orient+ | | What does the orient parameter do in to_dict?
meaning | z.infer+ | | what does z.infer do
meaning | raise_for_status+ | | What does raise_for_status() return?
meaning | ZIP_DEFLATED+ | | what is ZIP_DEFLATED
meaning | NOTSET+ | | What does NOTSET mean in logging?
how_to | trim_blocks+ lstrip_blocks+ | | jinja2 trim_blocks and lstrip_blocks
meaning | cached_property+ | | What does the @cached_property decorator do?
replacement | app.on_event+ boot+ | | Is @app.on_event("boot") deprecated and what replaces it?
difference | Session.merge+ Session.add+ | | What's the difference between Session.merge and Session.add?
difference | AsyncClient+ Client+ | | How is AsyncClient different from Client?
difference | loads+ load+ | | loads vs load
difference | json.dump+ json.dumps+ | | When should I use json.dump and when json.dumps?
difference | ZIP_DEFLATED+ ZIP_STORED+ | | Should I use ZIP_DEFLATED or ZIP_STORED?
difference | merge+ join+ | | difference between merge and join in pandas
difference | `loc`+ `iloc`+ | | What is the difference between `loc` and `iloc`?
difference | create_task+ ensure_future+ | | create_task versus ensure_future
difference | flush+ commit+ | | How does flush differ from commit?
difference | field_validator+ model_validator+ | | When should I use field_validator over model_validator?
difference | selectinload+ joinedload+ | | selectinload vs. joinedload, which is faster?
difference | apply+ map+ Series. | | what's the difference between apply and map on a Series?
difference | httpx.get+ httpx.Client.get+ | | differences between httpx.get and httpx.Client.get
how_to | | | How do I use a different encoding?
how_to | | | How do I compute the difference between two dates?
how_to | | | get a different value for each row
replacement | parse_obj_as+ | 2 | what replaced parse_obj_as in pydantic 2?
replacement | DataFrame.append+ | | What happened to DataFrame.append?
replacement | BaseSettings+ | | is BaseSettings deprecated
replacement | utcnow+ | | what should I use instead of utcnow?
replacement | get_event_loop+ | | Is get_event_loop deprecated?
replacement | session.query+ | 2.0 | What is the replacement for session.query in version 2.0?
replacement | validator+ | | What replaces validator in pydantic?
replacement | np.float+ | | Why was np.float removed? What do I use instead?
replacement | imp+ | | what happened to imp in python
replacement | `proxies`+ | | Was `proxies` renamed in httpx?
replacement | pkg_resources+ | | what do I use instead of pkg_resources
replacement | Series.iteritems+ | | Where did Series.iteritems go?
how_to | | | How do I replace NaN with 0 in pandas?
how_to | str.replace. | | How do I replace text with str.replace and a pattern?
error | TypeError- | | I get TypeError: Object of type datetime is not JSON serializable
error | httpx. foo+ AttributeError- | | AttributeError: module 'httpx' has no attribute 'foo'
error | Client.__init__. proxies+ TypeError- | | TypeError: Client.__init__() got an unexpected keyword argument 'proxies'
error | z.foo+ | | z.foo is not a function
error | SettingWithCopyWarning. | | How do I avoid SettingWithCopyWarning?
error | DetachedInstanceError. | | How to fix DetachedInstanceError in SQLAlchemy?
error | requests.get. SSLError. | | requests.get raises SSLError, what do I do?
error | bs4.exceptions.FeatureNotFound. | | bs4.exceptions.FeatureNotFound: Couldn't find a tree builder with the features you requested: lxml. Do you need to install a parser library?
error | werkzeug.routing.exceptions.BuildError. auth.login. | | werkzeug.routing.exceptions.BuildError: Could not build url for endpoint 'login'. Did you mean 'auth.login' instead?
replacement | DataFrame+ applymap+ AttributeError- | | AttributeError: 'DataFrame' object has no attribute 'applymap'. What happened to applymap in pandas?
replacement | parse_obj+ dict+ | 2 | what replaced parse_obj and .dict() in pydantic 2?
how_to | | | How do I read a .csv file from .NET?
error | `yaml.load`. TypeError- Loader+ | | `yaml.load` fails with TypeError: load() missing 1 required positional argument: 'Loader'
error | BaseSettings+ ImportError- | | ImportError: cannot import name 'BaseSettings' from 'pydantic'
how_to | MissingGreenlet. | | Why do I get MissingGreenlet?
how_to | HTTPException. | | How do I raise an HTTPException with a custom header?
how_to | ConnectTimeout. | | How do I catch ConnectTimeout?
how_to | RequestException. | | How do I handle RequestException in requests?
how_to | pytest.raises. ValueError- | | how do I test that a ValueError is raised with pytest.raises
how_to | yaml.dump. | | yaml.dump puts my keys in alphabetical order
how_to | httpx.get. | | How do I pass headers with httpx.get?
how_to | pd.read_csv. on_bad_lines. | | How do I skip lines with pd.read_csv and on_bad_lines=?
how_to | httpx.Client+ | | How do I use httpx.Client?
how_to | TestClient+ | | how to use TestClient
how_to | model_validate+ | | How do I call model_validate?
how_to | httpx.Client+ | | httpx.Client
how_to | json.dumps+ | | json.dumps
how_to | np.load. allow_pickle. | | np.load says allow_pickle=False, what do I pass
how_to | os.remove. | | delete a file like os.remove does
how_to | | | upload a file
how_to | | | Is there a way to limit connections?
how_to | | | What is the best way to read a csv?
how_to | | | I want to send a form
how_to | | | I need to retry a request
how_to | | | How do I set a default value for a field in pydantic?
how_to | | | change the default timeout
how_to | | | what do I call to flatten a nested list
how_to | Session. | | How do I close a Session?
how_to | FastAPI. | | How do I add middleware that logs every request to FastAPI?
how_to | BeautifulSoup. | | How do I find links in BeautifulSoup?
how_to | dict- DataFrame. | | How do I make a DataFrame from a dict()?
how_to | `list`- | | How do I flatten a `list`?
how_to | logging.getLogger. | | set the level of logging.getLogger
options | `how`+ pandas.merge+ | | Which values can `how` take in pandas.merge?
options | json.dumps+ | | what options does json.dumps have?
options | compression+ to_parquet+ | | What are the possible values of the compression option in to_parquet?
options | click.Choice+ | | which parameters are accepted by click.Choice
options | orient+ to_json+ | | allowed values for the orient argument of to_json?
how_to | | 3.3 3.4 | upgrade from 3.3 to 3.4
how_to | | 5 | How do I write a route in v5?
how_to | | 2.0 | what works since 2.0
how_to | | 4 5 | upgrade express 4 to 5
how_to | | 1 2 | migrate from pydantic 1 to 2
how_to | | 3.12 | How do I do it in Python 3.12?
how_to | | 1.4.2 | pin it to version 1.4.2
how_to | | | wait 2.5 seconds
how_to | | | show the top 5 rows
how_to | | | split into 3 parts
how_to | | | retry 5 times
how_to | | | return status 404
how_to | | | round to 2.5 %
how_to | | | bind to 127.0.0.1
how_to | | | read data.csv and write out.json
how_to | | | fetch https://example.com/a.b?c=d and parse it
how_to | | | call it e.g. twice, i.e. two times
how_to | np.где+ | | np.где
how_to | | | как прочитать файл
"""

PASTED = (
    (
        """I get this error when I run my script. How do I fix it?

Traceback (most recent call last):
  File "app.py", line 12, in <module>
    client = httpx.Client(proxies={"all": "http://localhost"})
  File "/lib/httpx/_client.py", line 640, in helper_function
    super().__init__(**kwargs)
TypeError: Client.__init__() got an unexpected keyword argument 'proxies'
""",
        "error",
        "httpx.Client. proxies+ helper_function. TypeError- Client.__init__.",
        "How do I fix it? TypeError: Client.__init__() got an unexpected keyword argument 'proxies'",
    ),
    (
        """My data looks like this:

{"id": 1, "name": "a"}
{"id": 2, "name": "b"}

and I load it with

```python
import pandas as pd
df = pd.read_json(path, lines=True)
```

How do I keep the order of the columns?""",
        "how_to",
        "pd.read_json. lines.",
        "How do I keep the order of the columns?",
    ),
    (
        """import httpx
client = httpx.Client()
r = client.get(url)
print(r.json())
""",
        "how_to",
        "httpx.Client. client.get. r.json.",
        None,
    ),
    (
        """We run a service with many workers. Each of them opens connections.
The database complains. Is there a way to limit the pool_size of create_engine?
Thank you all for reading this.""",
        "how_to",
        "pool_size. create_engine.",
        "Is there a way to limit the pool_size of create_engine?",
    ),
    (
        """What happens here?

TypeError: z.foo is not a function
    at run (/srv/app/index.js:10:5)
    at main (/srv/app/index.js:20:3)
""",
        "error",
        "z.foo+",
        "What happens here? TypeError: z.foo is not a function",
    ),
)
