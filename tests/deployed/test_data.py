"""data.yaml: what outlives a release, and that a failed first deployment leaves nothing behind."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tools.rehearsal.template import (
    Template,
    broken_rules,
    deployed_data,
    of_type,
    read_template,
    statements,
    template_text,
)

DATA = read_template("data")
OWN_VPC = {"VpcId": "vpc-0a1b2c3d", "SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6a7b"}


def kinds(stack: Template) -> set[str]:
    return {resource["Type"].rpartition("::")[0] for resource in stack["Resources"].values()}


def cluster_of(stack: Template) -> dict[str, Any]:
    [cluster] = of_type(stack, "AWS::RDS::DBCluster").values()
    return cluster


def test_its_outputs_are_parameters_of_the_template() -> None:
    assert DATA["Outputs"].keys() <= read_template()["Parameters"].keys()


def test_cloudformation_accepts_it_unchanged() -> None:
    """It reads no aliases of YAML, and a text of 51,200 bytes at most."""
    assert not re.search(r"(?m)[ \[][&*]\w|<<:", re.sub(r"#.*|\".*?\"", "", template_text("data")))
    assert len(template_text("data").encode()) <= 51_200


def test_parameters_that_belong_together_must_be_given_together() -> None:
    assert broken_rules("data", {}) == broken_rules("data", {"Database": "own"} | OWN_VPC) == set()
    broken: dict[str, dict[str, str]] = {
        "VpcAndSubnetsBelongTogether": {"VpcId": "vpc-0a1b2c3d"},
        "AProxyKeepsTheClusterAwake": {"AuroraProxy": "true"},
        "WhatIsOfAuroraNeedsAurora": {"Database": "own", "AuroraIam": "true"},
    }
    assert broken.keys() == DATA["Rules"].keys()
    for rule, given in broken.items():
        assert broken_rules("data", given) == {rule}


@pytest.mark.parametrize(
    ("level", "deletion", "is_locked"),
    [("none", "Delete", False), ("snapshot", "Snapshot", False), ("full", "Snapshot", True)],
)
def test_a_failed_first_deployment_leaves_nothing_and_protected_data_cannot_be_deleted(
    level: str, deletion: str, is_locked: bool
) -> None:
    stack = deployed_data(DataProtection=level)
    assert stack["Resources"]["DatabaseCluster"]["DeletionPolicy"] == deletion
    assert stack["Resources"]["DatabaseCluster"]["UpdateReplacePolicy"] == "Snapshot"
    assert cluster_of(stack)["DeletionProtection"] is is_locked
    [pool] = of_type(stack, "AWS::Cognito::UserPool").values()
    assert pool["DeletionProtection"] == ("ACTIVE" if is_locked else "INACTIVE")
    kept = {name for name, each in stack["Resources"].items() if each.get("DeletionPolicy") == "RetainExceptOnCreate"}
    assert kept == {"UserPool", "DataBucket", "ApiGatewayAccount", "ApiGatewayLogsRole"}
    assert not [name for name, each in stack["Resources"].items() if each.get("DeletionPolicy") == "Retain"]


def test_your_own_database_needs_neither_network_nor_cluster() -> None:
    assert not {"AWS::RDS", "AWS::EC2", "AWS::SecretsManager"} & kinds(deployed_data(Database="own"))
    of_vpc = deployed_data(Database="own", **OWN_VPC)
    assert {name for name, each in of_vpc["Resources"].items() if each["Type"].startswith("AWS::EC2")} == {
        "FunctionSecurityGroup"
    }
    assert of_vpc["Outputs"]["SubnetIds"]["Value"] == OWN_VPC["SubnetIds"]


@pytest.mark.parametrize(
    ("provider", "ways"),
    [
        ("local", {"SecretsEndpoint", "ObjectsByTheNetwork"}),
        ("bedrock", {"SecretsEndpoint", "BedrockEndpoint", "ObjectsByTheNetwork"}),
        ("openai", {"NatGateway", "ObjectsByTheNetwork"}),
    ],
)
def test_there_is_a_nat_gateway_only_for_a_model_outside_aws(provider: str, ways: set[str]) -> None:
    stack = deployed_data(ModelProvider=provider)
    assert {*of_type(stack, "AWS::EC2::VPCEndpoint"), *of_type(stack, "AWS::EC2::NatGateway")} == ways
    for name, endpoint in of_type(stack, "AWS::EC2::VPCEndpoint").items():
        if name != "ObjectsByTheNetwork":
            assert endpoint["SubnetIds"] == ["<PrivateSubnetA>"]  # each zone is billed
            [ingress] = of_type(stack, "AWS::EC2::SecurityGroup")["EndpointSecurityGroup"]["SecurityGroupIngress"]
            assert (ingress["SourceSecurityGroupId"], ingress["ToPort"]) == ("<FunctionSecurityGroup>", 443)
    assert not {"NatGateway", "SecretsEndpoint"} & deployed_data(ModelProvider=provider, **OWN_VPC)["Resources"].keys()


def test_a_cluster_is_encrypted_and_only_the_functions_reach_it() -> None:
    stack = deployed_data()
    cluster = cluster_of(stack)
    assert cluster["StorageEncrypted"] is True
    assert cluster["ManageMasterUserPassword"] is True
    scaling = {"MinCapacity": 0, "MaxCapacity": 4, "SecondsUntilAutoPause": 600}
    assert cluster["ServerlessV2ScalingConfiguration"] == scaling
    [ingress] = of_type(stack, "AWS::EC2::SecurityGroup")["DatabaseSecurityGroup"]["SecurityGroupIngress"]
    assert ingress["SourceSecurityGroupId"] == "<FunctionSecurityGroup>"
    awake = cluster_of(deployed_data(AuroraMinCapacity="0.5"))
    assert "SecondsUntilAutoPause" not in awake["ServerlessV2ScalingConfiguration"]


def test_the_bucket_is_private_encrypted_expires_files_and_requires_tls() -> None:
    stack = deployed_data()
    [bucket] = of_type(stack, "AWS::S3::Bucket").values()
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["Status"] == "Enabled"
    assert bucket["NotificationConfiguration"]["EventBridgeConfiguration"] == {"EventBridgeEnabled": True}
    [policy] = of_type(stack, "AWS::S3::BucketPolicy").values()
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_proxy_may_read_its_users_secret_and_nothing_else() -> None:
    stack = deployed_data(AuroraProxy="true", AuroraMinCapacity="1")
    assert [(each["Action"], each["Resource"]) for _, each in statements(stack)] == [
        ("secretsmanager:GetSecretValue", "<ServingSecret>")
    ]
